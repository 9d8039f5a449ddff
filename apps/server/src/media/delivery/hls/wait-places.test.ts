import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { WaitPlaces } from "./wait-places.ts";

const PROXY = "10.0.0.1";

/** Requests of a viewer over several connections through one proxy. */
function requestsOf(client: string, connections: number): IncomingMessage[] {
  return Array.from({ length: connections }, () => {
    const socket = Object.defineProperty(new Socket(), "remoteAddress", { value: PROXY });
    return { socket, headers: { "x-forwarded-for": client } } as unknown as IncomingMessage;
  });
}

const places = () => new WaitPlaces(new TrustedProxies([PROXY]));

function takeAll(waits: WaitPlaces, requests: readonly IncomingMessage[], stream = "stream") {
  const places = requests.map((request) => waits.take(request, stream));
  const taken = places.filter((place) => place !== null);
  return { taken, refused: places.length - taken.length };
}

test("a thousand viewers behind one address all wait, each for two playlists and two parts", () => {
  const requests = requestsOf("203.0.113.7", 4_000);
  expect(takeAll(places(), requests).refused).toBe(0);
});

test("one client cannot use the slots of another", () => {
  const waits = places();
  expect(takeAll(waits, requestsOf("203.0.113.66", 6_000)).refused).toBe(1_000);
  expect(takeAll(waits, requestsOf("203.0.113.7", 1)).refused).toBe(0);
});

test("one stream cannot use the slots of another", () => {
  const waits = places();
  const clients = Array.from({ length: 4 }, (_, host) => requestsOf(`203.0.113.${host}`, 5_000)).flat();
  expect(takeAll(waits, clients).taken).toHaveLength(15_000);
  expect(takeAll(waits, requestsOf("203.0.113.7", 1), "other").refused).toBe(0);
});

test("released slots are available again, per client and per stream", () => {
  const waits = places();
  const requests = requestsOf("203.0.113.66", 5_000);
  for (let round = 0; round < 4; round++) {
    const { taken, refused } = takeAll(waits, requests);
    expect(refused).toBe(0);
    for (const place of taken) waits.giveBack(place);
  }
});
