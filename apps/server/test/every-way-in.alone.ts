import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Ingest, Stream } from "@weir/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RtmpTestServer } from "../src/media/ingest/rtmp/rtmp-test-server.ts";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { everyFrame } from "../src/media/vod/media-track-rig.ts";
import { FIRST } from "../src/platform/http/certificate.fixture.ts";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { openArena } from "./support/arena.ts";
import { reachesEveryOutput } from "./support/every-output.ts";
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

type Way = "rtmp" | "rtmps" | "srt" | "whip" | "file";

async function addressOf(way: Exclude<Way, "whip" | "file">, { streamKey }: Stream): Promise<string> {
  const [{ ingests }] = (await arena.weir.client.ingest.list()) as [Ingest];
  if (way !== "srt") return `${ingests[way]}/${streamKey}`;
  return `${ingests.srt}?streamid=publish:${streamKey}&passphrase=${ingests.srtPassphrase}`;
}

/** The address of an MP4 file whose index is behind its media, as most programs write it. */
async function servedFile(closing: AsyncDisposableStack): Promise<string> {
  const file = closing.use(
    await makeFile({
      format: "mp4",
      video: {
        encoder: "libx264",
        ...{ width: 320, height: 180, times: everyFrame(25, 60), options: { preset: "ultrafast", g: "50" } },
      },
      audio: { encoder: "aac", seconds: 60 },
    }),
  );
  const bytes = await readFile(file.path);
  const server = createServer(({ headers: { range } }, response) => {
    const [, from] = /^bytes=(\d+)-$/.exec(range ?? "") ?? [];
    response.writeHead(from === undefined ? 200 : 206).end(bytes.subarray(Number(from ?? 0)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/film.mp4`;
}

/** Returns how it is stopped. */
async function publish(way: Way, stream: Stream, closing: AsyncDisposableStack): Promise<() => Promise<unknown>> {
  if (way === "whip") {
    const page = closing.use(await WebrtcPage.open(arena.browser, arena.weir.url));
    expect((await page.publish(arena.weir.webrtcUrl(stream.streamKey ?? ""))).status).toBe(201);
    return () => page.stop();
  }
  if (way === "file") {
    await arena.weir.client.streams.patch(stream.id, { pull: { source: await servedFile(closing) } });
    await arena.weir.client.streams.startPull(stream.id);
    return () => arena.weir.client.streams.terminate(stream.id);
  }
  const publisher = await startPublisher({ url: await addressOf(way, stream), seconds: 90 });
  closing.defer(() => publisher.kill());
  return () => publisher.stop();
}

const missing = missingLibsrt();

const reachesAll = (way: Way): Promise<void> =>
  reachesEveryOutput(arena, RtmpTestServer.start(), way, (stream, closing) => publish(way, stream, closing));

test("what is published over RTMP and RTMPS, and a file that is pulled, play everywhere", async () => {
  await Promise.all([reachesAll("rtmp"), reachesAll("rtmps"), reachesAll("file")]);
});

test.skipIf(missing !== null)(`what is published over SRT plays everywhere ${missing ?? ""}`, () => reachesAll("srt"));

test("what is published over WHIP plays everywhere", () => reachesAll("whip"));

test.runIf(missing !== null)("without libsrt the start and /readyz name it, and are ready", async () => {
  const answer = await fetch(`${arena.weir.url}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("libsrt")]);
});
