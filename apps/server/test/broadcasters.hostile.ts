import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { RtmpTestClient } from "../src/media/ingest/rtmp/rtmp-test-client.ts";
import { openArena } from "./support/arena.ts";
import { strangerAddress } from "./support/attacker.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { experienceOf, measured, told } from "./support/bystander.ts";
import { encodeFlv, type FlvTag } from "./support/flv-file.ts";
import { newestTranscoder, SMALL_LADDER } from "./support/transcoding.ts";
import type { WeirProcess } from "./support/weir-process.ts";

const STALL_MS = 4_000;
const CORRUPTED = 120;
const VIDEO = 9;
const AUDIO = 8;
const arena = openArena();

const residentMegabytes = ({ pid }: WeirProcess): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** A publisher whose messages the test sends individually. */
async function openPublisher(name: string): Promise<{ client: RtmpTestClient; streamId: string }> {
  const { id, streamKey } = await arena.weir.client.streams.create({ name, profiles: [] });
  const { client, status } = await RtmpTestClient.publish(arena.weir.rtmpPort, streamKey, strangerAddress());
  expect(status.code).toBe("NetStream.Publish.Start");
  client.setChunkSize(65_536);
  return { client, streamId: id };
}

const isMedia = ({ typeId }: FlvTag): boolean => typeId === VIDEO || typeId === AUDIO;

/** Resolves when everything written has left this process, or the server has closed the connection. */
function drained({ socket }: RtmpTestClient): Promise<void> {
  if (socket.destroyed || !socket.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    socket.once("drain", resolve);
    socket.once("close", () => resolve());
  });
}

test(`${CORRUPTED} publishers with corrupted bytes affect only themselves`, async (context) => {
  const { weir } = arena;
  const tags = (await encodeFlv({ seconds: 2 })).filter(isMedia);
  const before = residentMegabytes(weir);
  const experience = await experienceOf(weir, async () => {
    for (let n = 0; n < CORRUPTED; n++) {
      const { client } = await openPublisher(`corrupted ${n}`);
      for (const { typeId, timeMs, payload } of tags) {
        if (client.socket.destroyed) break;
        const damaged = Buffer.from(payload);
        // One byte in 2,000, and always one of the first bytes, which contain lengths and types.
        for (let at = (n * 7) % 13; at < damaged.length; at += 1 + ((n * 131 + at * 17) % 4_000))
          damaged[at] = (damaged[at] ?? 0) ^ (1 << (n & 7));
        client.message(typeId, n % 3 === 0 ? damaged.subarray(0, 1 + (n % damaged.length)) : damaged, timeMs);
        await drained(client);
      }
      client.socket.destroy();
    }
  });
  measured(context, `${Math.round(residentMegabytes(weir) - before)} MB more`, told(experience));
  expect(experience.apiFailures).toBe(0);
  expect(experience.longestStallMs).toBeLessThan(STALL_MS);
});

test("a source whose clock stands still is closed with a reason, and takes little memory", async (context) => {
  const { weir } = arena;
  const tags = (await encodeFlv({ seconds: 2, bitrateBps: 4_000_000 })).filter(isMedia);
  const before = residentMegabytes(weir);
  let worst = 0;
  const experience = await experienceOf(weir, async () => {
    const { client } = await openPublisher("stuck");
    const startedAt = performance.now();
    let sent = 0;
    while (!client.socket.destroyed && performance.now() - startedAt < 30_000) {
      for (const { typeId, payload } of tags) {
        if (client.socket.destroyed) break;
        client.message(typeId, payload, 1_000);
        sent += payload.length;
        await drained(client);
      }
      worst = Math.max(worst, residentMegabytes(weir) - before);
      // About 25 MB per second, as on a fast connection.
      await wait(Math.max(0, (sent / 25e6) * 1000 - (performance.now() - startedAt)));
    }
    const words = client.socket.destroyed ? await client.lastWords() : undefined;
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    measured(context, `${Math.round(sent / 1e6)} MB in ${seconds} s: ${words?.description ?? "not ended"}`);
    expect(words?.description).toMatch(/clock|timestamp/i);
  });
  measured(context, `${Math.round(worst)} MB more at most`, told(experience));
  expect(worst).toBeLessThan(250);
  expect(experience.longestStallMs).toBeLessThan(STALL_MS);
});

test("a source that sends 100 times faster than real time is slowed down or refused with a hint at -re, and takes little memory", async (context) => {
  const { weir } = arena;
  const tags = (await encodeFlv({ seconds: 4, bitrateBps: 6_000_000 })).filter(isMedia);
  const before = residentMegabytes(weir);
  let worst = 0;
  const experience = await experienceOf(weir, async () => {
    const { client } = await openPublisher("fast");
    const startedAt = performance.now();
    let [sent, mediaMs] = [0, 0];
    for (let round = 0; !client.socket.destroyed && performance.now() - startedAt < 20_000; round++) {
      for (const { typeId, timeMs, payload } of tags) {
        if (client.socket.destroyed || performance.now() - startedAt > 20_000) break;
        mediaMs = round * 4_000 + timeMs;
        client.message(typeId, payload, mediaMs);
        sent += payload.length;
        await Promise.race([drained(client), wait(20_000)]);
      }
      worst = Math.max(worst, residentMegabytes(weir) - before);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const words = client.socket.destroyed ? await client.lastWords() : undefined;
    const speed = (mediaMs / 1000 / seconds).toFixed(1);
    measured(context, `${Math.round(sent / 1e6)} MB, ${speed} times real time: ${words?.description ?? "slowed"}`);
    if (words) expect(words.description).toContain("-re");
    else expect(Number(speed)).toBeLessThan(4);
    client.socket.destroy();
  });
  measured(context, `${Math.round(worst)} MB more at most`, told(experience));
  expect(worst).toBeLessThan(250);
  expect(experience.longestStallMs).toBeLessThan(STALL_MS);
});

for (const [rungs, profiles] of [
  ["one rung", SMALL_LADDER.slice(0, 1)],
  ["two rungs", SMALL_LADDER],
] as const) {
  test(`a transcoder of ${rungs} that hangs is replaced, and every rung recovers`, async (context) => {
    const { weir } = arena;
    await using broadcast = await startBroadcast(weir, { stream: { profiles: [...profiles] } });
    await expect.poll(async () => (await broadcast.now()).transcodedSegments, { timeout: 20_000 }).toBeGreaterThan(1);
    const hung = newestTranscoder(weir);
    process.kill(hung, "SIGSTOP");
    const stoppedAt = performance.now();
    await expect.poll(() => newestTranscoder(weir), { timeout: 15_000 }).not.toBe(hung);
    const replacedMs = performance.now() - stoppedAt;
    const { transcodedSegments } = await broadcast.now();
    await expect
      .poll(async () => (await broadcast.now()).transcodedSegments, { timeout: 20_000 })
      .toBeGreaterThan(transcodedSegments + 2);
    measured(context, `replaced after ${(replacedMs / 1000).toFixed(1)} s`);
    expect(replacedMs).toBeLessThan(8_000);
    const multivariant = await fetch(broadcast.hlsUrl).then((answer) => answer.text());
    expect(multivariant.match(/#EXT-X-STREAM-INF/g)).toHaveLength(profiles.length + 1);
  });
}
