import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";

const LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
/** A process whose machine has another time. */
const wrong = (seconds: number) => [
  "env",
  `LD_PRELOAD=${LIBRARY}`,
  `FAKETIME=${seconds > 0 ? "+" : ""}${seconds}s`,
  "FAKETIME_DONT_FAKE_MONOTONIC=1",
];

let nodes: Nodes;
beforeAll(async () => {
  expect(existsSync(LIBRARY), "install the package libfaketime").toBe(true);
  nodes = await Nodes.open([], { WEIR_ALLOW_PRIVATE_URLS: "1" });
  await nodes.start("slow", { env: { WEIR_ROLES: "media" }, through: wrong(-40) });
  await nodes.start("fast", { env: { WEIR_ROLES: "media" }, through: wrong(40) });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

test.concurrent.for(["slow", "fast"])(
  "a media node whose clock is 40 s wrong (%s): a lost encoder has its whole window",
  async (node, { expect }) => {
    await using staged = await StagedStream.create(nodes, { watchedAt: [node] });
    const publisher = await staged.publishAt(node);
    await staged.untilState("live");
    await staged.untilListed(node, 2);
    await publisher.kill();
    const lostAt = Date.now();
    const { status } = await staged.untilState("reconnecting");
    await staged.untilState("idle", 60_000);
    const windowMs = Date.now() - lostAt;
    const session = await staged.recorded();
    figure(`${node}: window, in ms`, windowMs, expect);
    figure(`${node}: last seen before the loss by, in ms`, lostAt - session.lastSeen, expect);
    expect(Math.abs((status.reconnectUntil ?? 0) - lostAt - 30_000)).toBeLessThan(3_000);
    expect(windowMs).toBeGreaterThan(27_000);
    expect(windowMs).toBeLessThan(34_000);
    expect(Math.abs(session.lastSeen - lostAt)).toBeLessThan(3_000);
    expect(nodes.node(node).weir.log).toContain("this machine's clock is not that of the database");
  },
);

test.each([-40, 40])(
  "a worker whose clock is %i s wrong claims a delivery as long as one with a right one: it is sent once",
  async (seconds) => {
    const calls: string[] = [];
    const receiver = createServer((req, res) => {
      calls.push(String(req.headers["webhook-id"] ?? req.headers["x-weir-id"] ?? req.url));
      req.resume();
      // Longer than a claim of the wrong time would last.
      setTimeout(() => res.end(), 25_000);
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    await nodes.node("worker").weir.stop();
    const other = await nodes.start(`worker${seconds}`, { env: { WEIR_ROLES: "worker" }, through: wrong(seconds) });
    await using staged = await StagedStream.create(nodes, { watchedAt: [], record: false });
    const { api } = nodes;
    const webhook = await api.client.webhooks.create({ name: "slow", url, events: ["stream.started"] });
    const publisher = await staged.publishAt("slow");
    await expect.poll(() => calls.length, { timeout: 20_000 }).toBe(1);
    // One with a right clock looks for what is due.
    await nodes.node("worker").weir.restart();
    await sleep(32_000);
    expect(calls).toHaveLength(1);
    await publisher.stop();
    await api.client.webhooks.delete(webhook.id);
    await other.weir.stop();
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  },
);
