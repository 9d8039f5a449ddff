import { expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Outbound } from "../../platform/outbound/outbound.ts";
import { PRIVATE_ADDRESS } from "../../platform/outbound/outbound-url.ts";
import { SrtProcessRig, TAKES_ALL } from "../srt/srt-process-rig.ts";
import { connectSrt } from "./srt-connection.ts";
import type { TargetFailure } from "./target-connection.ts";

const CALL = { streamId: "key", passphrase: null, keyBytes: 0, latencyMs: 120, address: "127.0.0.1", port: 9000 };

test("unacknowledged bytes count as queued, and the checked address is the one connected to", async () => {
  await using rig = new SrtProcessRig();
  const srt = await rig.open(TAKES_ALL);
  const called: unknown[] = [];
  const outbound = new Outbound({
    clock: systemClock,
    allowPrivate: false,
    own: () => ({ ports: [], publicUrl: "http://weir.test" }),
    resolve: async () => ["8.8.8.8"],
  });
  const ready = Promise.withResolvers<void>();
  const connection = connectSrt({
    ...{ clock: systemClock, log: silentLog, outbound, onOver: () => {} },
    srt: {
      connect: (call, events) => {
        called.push(call);
        return srt.connect(call, events);
      },
    },
    url: "srt://target.example:9000?streamid=key",
    handler: { ready: () => ready.resolve(), failed: ({ reason }) => ready.reject(new Error(reason)) },
  });
  if (typeof connection === "string") throw new Error(connection);
  await ready.promise;
  expect(called).toEqual([{ ...CALL, address: "8.8.8.8", peer: "target" }]);
  connection.write(new Uint8Array(188));
  expect(connection.queuedBytes).toBe(188);
  await expect.poll(() => connection.queuedBytes).toBe(0);
  connection.destroy();
});

test.each([
  ["srt://127.0.0.1:9000", PRIVATE_ADDRESS],
  ["srt://inside.example:9000", PRIVATE_ADDRESS],
  ["srt://target.example:6379", "port 6379 is not allowed"],
  ["srt://target.example?streamid=key", "it has no port: srt://host:port?streamid=key"],
])("no connection is made to %s", async (url, words) => {
  const outbound = new Outbound({
    clock: systemClock,
    allowPrivate: false,
    own: () => ({ ports: [], publicUrl: "http://weir.test" }),
    resolve: async () => ["8.8.8.8", "10.0.0.1"],
  });
  const failed = Promise.withResolvers<TargetFailure>();
  const connection = connectSrt({
    ...{ clock: systemClock, log: silentLog, outbound, url, onOver: () => {} },
    srt: { connect: () => expect.unreachable("nobody may connect there") },
    handler: { ready: () => {}, failed: failed.resolve },
  });
  const why = typeof connection === "string" ? connection : (await failed.promise).reason;
  expect(why).toContain(words);
});
