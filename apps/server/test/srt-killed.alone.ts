import { readFileSync } from "node:fs";
import type { Ingest, Stream } from "@weir/contract";
import { expect, test } from "vitest";
import { startBroadcast } from "./support/broadcast.ts";
import { childOf } from "./support/gated-broadcast.ts";
import { followParts } from "./support/part-times.ts";
import { familyOf } from "./support/process-family.ts";
import { startPublisher } from "./support/publisher.ts";
import { missingLibsrt } from "./support/srt-listener.ts";
import { WeirProcess } from "./support/weir-process.ts";

/** `srt-network.test.ts` has ten, and how soon they are back. Each of these is a process of its own. */
const PUBLISHERS = 3;
const missing = missingLibsrt();

const srtProcessesOf = ({ pid }: WeirProcess): number[] =>
  familyOf(pid).filter((each) => readFileSync(`/proc/${each}/cmdline`, "utf8").includes("srt-child"));

test.skipIf(missing !== null)(
  `sessions over SRT go on after its process was killed, and RTMP and its viewers do not notice ${missing ?? ""}`,
  async () => {
    await using weir = await WeirProcess.start({ env: { WEIR_SRT_PORT: "0" } });
    await using closing = new AsyncDisposableStack();
    const { client } = weir;
    const [{ ingests }] = (await client.ingest.list()) as [Ingest];
    const send = async ({ streamKey }: Stream) => {
      const url = `${ingests.srt}?streamid=${streamKey}`;
      const publisher = await startPublisher({ url, seconds: 120, width: 320, height: 180, bitrateBps: 200_000 });
      closing.defer(() => publisher.kill());
      return publisher;
    };
    const areLive = async () =>
      Promise.all(streams.map(async ({ id }) => (await client.streams.get(id)).status.state === "live"));
    const sessionsOf = async ({ id }: Stream) =>
      (await client.sessions.ofStream(id)).items.map((session) => [session.id, session.isActive]);
    const sessions = () => Promise.all(streams.map(sessionsOf));

    const names = Array.from({ length: PUBLISHERS }, (_, n) => `srt ${n}`);
    const streams = await Promise.all(names.map((name) => client.streams.create({ name, profiles: [] })));
    const live = streams.map(() => true);
    const publishers = await Promise.all(streams.map(send));
    await using rtmp = await startBroadcast(weir, { seconds: 120 });
    const playlist = await childOf(rtmp.hlsUrl);
    const viewer = followParts(playlist);
    closing.defer(() => viewer.stop());
    await expect.poll(areLive, { timeout: 20_000 }).toEqual(live);
    // It is listed a moment after its stream is live.
    await expect.poll(sessions, { timeout: 20_000 }).toEqual(streams.map(() => [[expect.any(String), true]]));
    const before = await sessions();

    const [killed, ...others] = srtProcessesOf(weir);
    expect([killed, others]).toEqual([expect.any(Number), []]);
    const seen = viewer.lateness.length;
    process.kill(killed ?? 0, "SIGKILL");
    // FFmpeg notices when libsrt hears nothing for 5 s, and does not connect again.
    const ends = await Promise.all(publishers.map(({ ended }) => ended));
    expect(ends).toEqual(publishers.map(() => expect.any(String)));
    await Promise.all(streams.map(send));
    await expect.poll(areLive, { timeout: 20_000 }).toEqual(live);

    expect(await sessions()).toEqual(before);
    expect(srtProcessesOf(weir)).toEqual([expect.not.toSatisfy((pid) => pid === killed)]);
    expect((await rtmp.sessions()).map(({ isActive }) => isActive)).toEqual([true]);
    expect(await fetch(playlist).then((answer) => answer.text())).not.toMatch(/#EXT-X-(DISCONTINUITY|GAP)/);
    await expect.poll(() => viewer.lateness.length, { timeout: 10_000 }).toBeGreaterThan(seen + 10);
  },
);
