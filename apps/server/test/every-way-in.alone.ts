import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ingest, Stream } from "@weir/contract";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RtmpTestServer } from "../src/media/ingest/rtmp/rtmp-test-server.ts";
import { FIRST } from "../src/platform/http/certificate.fixture.ts";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { openArena } from "./support/arena.ts";
import { expectLowLatency, expectRecorded } from "./support/outputs.ts";
import { startPublisher } from "./support/publisher.ts";
import { missingLibsrt } from "./support/srt-listener.ts";
import { WebrtcPage } from "./support/webrtc-page.ts";

/** Every ingest reaches every output: LL-HLS, WHEP, a multistream target, and the recording as HLS and as MP4. */

const folder = makeTestFolder("certificate");
const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
beforeAll(() => Promise.all([writeFile(files.cert, FIRST.cert), writeFile(files.key, FIRST.key)]));
afterAll(() => rm(folder, { recursive: true }));

const arena = openArena({
  env: {
    WEIR_ALLOW_PRIVATE_URLS: "1",
    WEIR_SRT_PORT: "0",
    WEIR_SRT_PASSPHRASE: "every0way0in",
    WEIR_TLS_CERT: files.cert,
    WEIR_TLS_KEY: files.key,
    WEIR_HTTPS_PORT: "0",
    WEIR_RTMPS_PORT: "0",
  },
});

type Way = "rtmp" | "rtmps" | "srt" | "whip";

async function addressOf(way: Exclude<Way, "whip">, { streamKey }: Stream): Promise<string> {
  const [{ ingests }] = (await arena.weir.client.ingest.list()) as [Ingest];
  if (way !== "srt") return `${ingests[way]}/${streamKey}`;
  return `${ingests.srt}?streamid=publish:${streamKey}&passphrase=${ingests.srtPassphrase}`;
}

/** Returns how it is stopped. */
async function publish(way: Way, stream: Stream, closing: AsyncDisposableStack): Promise<() => Promise<unknown>> {
  if (way === "whip") {
    const page = closing.use(await WebrtcPage.open(arena.browser, arena.weir.url));
    expect((await page.publish(arena.weir.webrtcUrl(stream.streamKey ?? ""))).status).toBe(201);
    return () => page.stop();
  }
  const publisher = await startPublisher({ url: await addressOf(way, stream), seconds: 90 });
  closing.defer(() => publisher.kill());
  return () => publisher.stop();
}

const missing = missingLibsrt();

async function reachesAll(way: Way): Promise<void> {
  await using closing = new AsyncDisposableStack();
  const target = closing.use(await RtmpTestServer.start());
  const url = `rtmp://127.0.0.1:${target.port}/live/Right-Key`;
  const { weir, browser } = arena;
  const stream = await weir.client.streams.create({
    ...{ name: way, record: true, profiles: [] },
    multistream: { targets: [{ profile: "source", spec: { name: "elsewhere", url } }] },
  });
  const stop = await publish(way, stream, closing);
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

test("what is published over RTMP and RTMPS plays everywhere", async () => {
  await Promise.all([reachesAll("rtmp"), reachesAll("rtmps")]);
});

test.skipIf(missing !== null)(`what is published over SRT plays everywhere ${missing ?? ""}`, () => reachesAll("srt"));

test("what is published over WHIP plays everywhere", () => reachesAll("whip"));

test.runIf(missing !== null)("without libsrt the start and /readyz name it, and are ready", async () => {
  const answer = await fetch(`${arena.weir.url}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("libsrt")]);
});
