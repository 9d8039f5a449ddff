import type { Stream } from "@weir/contract";
import { expect, vi } from "vitest";
import type { Arena } from "./arena.ts";
import { expectLowLatency, expectRecorded } from "./outputs.ts";
import { WebrtcPage } from "./webrtc-page.ts";
import type { WeirServer } from "./weir-server.ts";

/** An RTMP server that a stream is forwarded to. */
interface Target extends AsyncDisposable {
  readonly port: number;
  readonly publications: readonly { readonly packets: readonly { readonly kind: string }[] }[];
}

/** Checks that what is published reaches LL-HLS, WHEP, a multistream target, and the recording as HLS and as MP4. `publish` returns how it is stopped. */
export async function reachesEveryOutput(
  { weir, browser }: Arena<WeirServer>,
  opened: Promise<Target>,
  name: string,
  publish: (stream: Stream, closing: AsyncDisposableStack) => Promise<() => Promise<unknown>>,
): Promise<void> {
  await using closing = new AsyncDisposableStack();
  const target = closing.use(await opened);
  const url = `rtmp://127.0.0.1:${target.port}/live/Right-Key`;
  const stream = await weir.client.streams.create({
    ...{ name, record: true, profiles: [] },
    multistream: { targets: [{ profile: "source", spec: { name: "elsewhere", url } }] },
  });
  const stop = await publish(stream, closing);
  const packets = (kind: string) =>
    target.publications[0]?.packets.filter((packet) => packet.kind === kind).length ?? 0;
  await expect.poll(() => Math.min(packets("video"), packets("audio")), { timeout: 60_000 }).toBeGreaterThan(30);
  await expectLowLatency(weir.hlsUrl(stream.playbackId));
  const viewer = closing.use(await WebrtcPage.open(browser, weir.url));
  const watch = async () => {
    const { status, body } = await viewer.watch(weir.webrtcUrl(stream.playbackId));
    return status === 201 ? "watches" : `${status}: ${body}`;
  };
  // Between two stretches there is no media to offer, and a player asks again. Any other answer is final.
  const answered = await vi.waitUntil(
    async () => {
      const answer = await watch();
      return answer.startsWith("404") ? false : answer;
    },
    { timeout: 20_000, interval: 300 },
  );
  expect(answered).toBe("watches");
  await viewer.until("pictures and sound", ({ frames, loudness }) => frames > 30 && loudness > 0.01, 40_000);
  await stop();
  await expectRecorded(weir, stream.id);
}
