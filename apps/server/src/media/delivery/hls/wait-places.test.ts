import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { type WaitPlace, WaitPlaces } from "./wait-places.ts";

const PROXY = "10.0.0.1";

/** A viewer's requests over as many connections as are asked for, all through one proxy. */
function requestsOf(client: string, connections: number): IncomingMessage[] {
  return Array.from({ length: connections }, () => {
    const socket = Object.defineProperty(new Socket(), "remoteAddress", { value: PROXY });
    return { socket, headers: { "x-forwarded-for": client } } as unknown as IncomingMessage;
  });
}

const places = () => new WaitPlaces(new TrustedProxies([PROXY]));

function takeAll(waits: WaitPlaces, requests: readonly IncomingMessage[], stream = "stream") {
  const taken: WaitPlace[] = [];
  const refused: string[] = [];
  for (const request of requests) {
    const place = waits.take(request, stream);
    if (typeof place === "string") refused.push(place);
    else taken.push(place);
  }
  return { taken, refused };
}

test("a thousand viewers behind one address all wait, each for two playlists and two parts", () => {
  const requests = requestsOf("203.0.113.7", 4_000);
  expect(takeAll(places(), requests).refused).toEqual([]);
});

test("one connection has four waiting requests, however many it sends, and its other connections have theirs", () => {
  const waits = places();
  const [request, other] = requestsOf("203.0.113.7", 2) as [IncomingMessage, IncomingMessage];
  const { taken, refused } = takeAll(waits, new Array(2_000).fill(request));
  expect([taken.length, new Set(refused)]).toEqual([4, new Set(["connection"])]);
  expect(takeAll(waits, [other]).refused).toEqual([]);
});

test("one client cannot take the places of another", () => {
  const waits = places();
  expect(takeAll(waits, requestsOf("203.0.113.66", 6_000)).refused).toHaveLength(1_000);
  expect(takeAll(waits, requestsOf("203.0.113.7", 1)).refused).toEqual([]);
});

test("one stream cannot take the places of another", () => {
  const waits = places();
  const clients = Array.from({ length: 4 }, (_, host) => requestsOf(`203.0.113.${host}`, 5_000)).flat();
  expect(takeAll(waits, clients).taken).toHaveLength(15_000);
  expect(takeAll(waits, requestsOf("203.0.113.7", 1), "other").refused).toEqual([]);
});

test("what is given back can be taken again, by connection, client and stream", () => {
  const waits = places();
  const requests = requestsOf("203.0.113.66", 5_000);
  for (let round = 0; round < 4; round++) {
    const { taken, refused } = takeAll(waits, requests);
    expect(refused).toEqual([]);
    for (const place of taken) waits.giveBack(place);
  }
});
