import { setTimeout as wait } from "node:timers/promises";
import { MESSAGE, writeCommand, writeMessage } from "@weir/formats/rtmp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RtmpTestServer } from "../src/media/ingest/rtmp/rtmp-test-server.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { measured } from "./support/bystander.ts";
import { type Fault, FaultyTarget } from "./support/faulty-target.ts";
import { childOf } from "./support/gated-broadcast.ts";
import { followParts } from "./support/part-times.ts";
import { WeirProcess } from "./support/weir-process.ts";

const FAULTS: readonly Fault[] = ["never reads", "reads at half speed", "answers garbage", "redirects"];
const TARGETS_EACH = 5;
const PHASE_MS = 12_000;
const WITHIN_MS = 50;
/** Tolerance for the machine's own delays. */
const SHARE = 0.95;

let weir: WeirProcess;
beforeAll(async () => {
  weir = await WeirProcess.start({ env: { WEIR_ALLOW_PRIVATE_URLS: "1" } });
});
afterAll(() => weir?.[Symbol.asyncDispose]());

const redirect = writeMessage(
  {
    ...{ chunkStreamId: 3, typeId: MESSAGE.commandAmf0, timestamp: 0, streamId: 0 },
    payload: writeCommand("_error", 1, null, {
      code: "NetConnection.Connect.Rejected",
      ex: { code: 302, redirect: "rtmp://127.0.0.1:22/live" },
    }),
  },
  128,
);

test("twenty targets that never read, read at half speed, respond with garbage or redirect: parts are published on time", async (context) => {
  await using behind = await RtmpTestServer.start();
  await using stack = new AsyncDisposableStack();
  await using broadcast = await startBroadcast(weir, { seconds: 120, bitrateBps: 2_000_000 });
  const { id } = broadcast.stream;
  const faulty: FaultyTarget[] = [];
  for (const fault of FAULTS) {
    const options = { fault, behind: behind.port, bytesPerSecond: 125_000, redirect };
    for (let n = 0; n < TARGETS_EACH; n++) faulty.push(stack.use(await FaultyTarget.open(options)));
  }
  const playlist = await childOf(broadcast.hlsUrl);
  const parts = followParts(playlist);
  stack.defer(() => parts.stop());
  await wait(2_000);
  const latenessDuring = async (): Promise<number[]> => {
    const from = parts.lateness.length;
    await wait(PHASE_MS);
    return parts.lateness.slice(from).sort((a, b) => a - b);
  };

  const alone = await latenessDuring();
  const targets = faulty.map(({ port }, n) => ({
    profile: "source",
    spec: { name: `${FAULTS[Math.floor(n / TARGETS_EACH)]}`, url: `rtmp://127.0.0.1:${port}/live/Right-Key` },
  }));
  await weir.client.streams.patch(id, { multistream: { targets } });
  const beside = [...(await latenessDuring()), ...(await latenessDuring())].sort((a, b) => a - b);
  const shown = (await broadcast.now()).multistream.targets.map(({ status }) => status);
  expect(faulty.every(({ connections }) => connections > 0)).toBe(true);
  const failing = shown.filter(({ reason }) => reason).length;
  expect(failing).toBeGreaterThanOrEqual(TARGETS_EACH * 2);

  const at = (list: readonly number[], share: number) => list[Math.floor((list.length - 1) * share)] ?? Number.NaN;
  const told = (list: readonly number[]) =>
    `${[0.5, SHARE, 1].map((share) => `${Math.round(at(list, share))} ms`).join(", ")}`;
  measured(
    context,
    `parts later than their media, median, 95 %, worst: alone ${told(alone)}; beside them ${told(beside)}`,
  );
  expect(beside.length).toBeGreaterThan(50);
  expect(at(beside, SHARE) - at(alone, SHARE)).toBeLessThan(WITHIN_MS);
}, 120_000);
