import { expect, test } from "vitest";
import { WaitPlaces } from "./wait-places.ts";

/** The client of each of so many requests. */
const requestsOf = (client: string, count: number): string[] => Array<string>(count).fill(client);

function takeAll(waits: WaitPlaces, clients: readonly string[], stream = "stream") {
  const places = clients.map((client) => waits.take(client, stream));
  const taken = places.filter((place) => place !== null);
  return { taken, refused: places.length - taken.length };
}

test("a thousand viewers behind one address all wait, each for two playlists and two parts", () => {
  const requests = requestsOf("203.0.113.7", 4_000);
  expect(takeAll(new WaitPlaces(), requests).refused).toBe(0);
});

test("one client cannot use the slots of another", () => {
  const waits = new WaitPlaces();
  expect(takeAll(waits, requestsOf("203.0.113.66", 6_000)).refused).toBe(1_000);
  expect(takeAll(waits, requestsOf("203.0.113.7", 1)).refused).toBe(0);
});

test("one stream cannot use the slots of another", () => {
  const waits = new WaitPlaces();
  const clients = Array.from({ length: 4 }, (_, host) => requestsOf(`203.0.113.${host}`, 5_000)).flat();
  expect(takeAll(waits, clients).taken).toHaveLength(15_000);
  expect(takeAll(waits, requestsOf("203.0.113.7", 1), "other").refused).toBe(0);
});

test("released slots are available again, per client and per stream", () => {
  const waits = new WaitPlaces();
  const requests = requestsOf("203.0.113.66", 5_000);
  for (let round = 0; round < 4; round++) {
    const { taken, refused } = takeAll(waits, requests);
    expect(refused).toBe(0);
    for (const place of taken) waits.giveBack(place);
  }
});
