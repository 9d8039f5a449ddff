import { readdirSync, readFileSync } from "node:fs";
import type { EventPage } from "@weir/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Broadcast } from "./support/broadcast.ts";
import { missingForSrt, SrtListener } from "./support/srt-listener.ts";
import { WeirProcess } from "./support/weir-process.ts";
import { PRESET_API_KEY } from "./support/weir-server.ts";

const FRAME_SECONDS = 1 / 30;
const STREAM_ID = "#!::r=srt-secret-key,m=publish";
const PASSPHRASE = "a-secret-passphrase";

let weir: WeirProcess;
beforeAll(async () => {
  weir = await WeirProcess.start({ env: { WEIR_ALLOW_PRIVATE_URLS: "1" } });
});
afterAll(() => weir?.[Symbol.asyncDispose]());

const urlOf = (port: number, passphrase = PASSPHRASE) =>
  `srt://127.0.0.1:${port}?streamid=${STREAM_ID}&passphrase=${passphrase}&latency=200`;

/** The server's SRT process. */
function srtChild(): number {
  const [child] = readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const [command, stat] = ["cmdline", "stat"].map((file) => contentOf(`/proc/${pid}/${file}`));
    return command?.includes("srt-child.ts") && stat?.split(") ")[1]?.split(" ")[1] === String(weir.pid);
  });
  return Number(child);
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const missing = missingForSrt();
test.skipIf(missing !== null)(
  `over SRT a listener that is killed, and our own process, come back: Online, Pending, Online ${missing ?? ""}`,
  async () => {
    await using listener = await SrtListener.start(PASSPHRASE);
    await using careful = await SrtListener.start("another-passphrase");
    const targets = [
      { profile: "source", spec: { name: "ffmpeg", url: urlOf(listener.port) } },
      { profile: "source", spec: { name: "careful", url: urlOf(careful.port) } },
    ];
    const stream = await weir.client.streams.create({ name: "to ffmpeg", profiles: [], multistream: { targets } });
    await using broadcast = new Broadcast(weir, weir, stream, { seconds: 90, bFrames: 2, frameRate: 30 });
    const targetOf = async (index: number) => (await broadcast.now()).multistream.targets[index]?.status;
    const untilTarget = (state: string) =>
      expect.poll(async () => (await targetOf(0))?.state, { timeout: 40_000 }).toBe(state);
    const startedAt = Date.now();
    await broadcast.publish();
    await untilTarget("Online");
    await expect
      .poll(async () => (await targetOf(1))?.reason, { timeout: 10_000 })
      .toBe("The target refused the stream: the passphrase is wrong.");

    await listener.kill();
    await untilTarget("Pending");
    expect((await targetOf(0))?.reason).toBe("The target closed the connection or stopped responding.");
    listener.restart();
    await untilTarget("Online");
    process.kill(srtChild(), "SIGKILL");
    await untilTarget("Pending");
    await untilTarget("Online");
    await broadcast.publisher.stop();
    await broadcast.untilState("idle");

    const headers = { authorization: `Bearer ${PRESET_API_KEY}`, accept: "application/json" };
    const response = await fetch(`${weir.url}/data/stream/${stream.id}/events?from=${startedAt}&to=${Date.now()}`, {
      headers,
    });
    const { events } = (await response.json()) as EventPage;
    const { id } = (await broadcast.now()).multistream.targets[0] ?? {};
    const told = events.flatMap((event) => {
      if (event.type !== "webhook_event" || !event.event.startsWith("multistream.")) return [];
      return (event.payload as { target: { id: string } }).target.id === id ? [event.event] : [];
    });
    expect(told).toEqual([
      ...["multistream.connected", "multistream.error", "multistream.connected"],
      ...["multistream.error", "multistream.connected", "multistream.disconnected"],
    ]);
    const shown = JSON.stringify([events, await broadcast.now(), await weir.client.streams.health(stream.id)]);
    expect(shown).not.toMatch(/secret/);

    const packets = await listener.packetsOf(2);
    const timesOf = (kind: string) => packets.filter((packet) => packet.kind === kind).map(({ pts }) => pts);
    const [video, audio] = [timesOf("video").sort((a, b) => a - b), timesOf("audio")];
    expect(video.length).toBeGreaterThan(60);
    // The broadcast was cut off, so pictures presented before the last one may be missing.
    for (const [index, time] of video.slice(1, -4).entries())
      expect(Math.abs(time - (video[index] ?? 0) - FRAME_SECONDS)).toBeLessThan(0.002);
    // Both start at the keyframe, which is decoded two pictures before it is shown.
    expect(Math.abs((audio[0] ?? 0) - (video[0] ?? 0))).toBeLessThan(3 * FRAME_SECONDS);
  },
  180_000,
);
