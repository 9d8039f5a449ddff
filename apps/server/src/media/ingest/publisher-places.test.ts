import { expect, test } from "vitest";
import { type PlacedConnection, PublisherPlaces } from "./publisher-places.ts";

/** 100 connections: 25 may wait, 12 per client. */
const places = () => new PublisherPlaces(100);

class Connection implements PlacedConnection {
  client: string | null;
  isOut = false;

  constructor(client: string | null) {
    this.client = client;
  }

  pushOut(): void {
    this.isOut = true;
  }
}

function enter(into: PublisherPlaces, client: string | null): Connection {
  const connection = new Connection(client);
  into.enter(connection);
  into.named(connection);
  return connection;
}

test("if too many connections wait, clients with many lose theirs, and a single broadcaster keeps its own", () => {
  const all = places();
  const broadcaster = enter(all, "broadcaster");
  const floods = Array.from({ length: 300 }, (_, n) => enter(all, `stranger ${n % 3}`));
  expect(broadcaster.isOut).toBe(false);
  expect(floods.filter(({ isOut }) => !isOut).length).toBe(24);
  expect(all.publishes(broadcaster)).toBe(true);
});

test("a client over its limit of waiting connections loses its oldest", () => {
  const all = places();
  const own = Array.from({ length: 13 }, () => enter(all, "a"));
  expect(own.map(({ isOut }) => isOut)).toEqual([true, ...Array(12).fill(false)]);
});

test("a connection whose client a proxy names later counts for that client, and releases its slot", () => {
  const all = places();
  const late = new Connection(null);
  all.enter(late);
  late.client = "a";
  all.named(late);
  for (let n = 0; n < 12; n++) enter(all, "a");
  expect(late.isOut).toBe(true);
  all.leave(late);
  const others = Array.from({ length: 13 }, (_, n) => enter(all, `other ${n}`));
  expect(others.some(({ isOut }) => isOut)).toBe(false);
});
