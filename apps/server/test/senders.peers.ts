import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ingest, Stream } from "@weir/contract";
import { ALL_FORMATS, BufferSource, Input } from "mediabunny";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { UdpRelay } from "../src/media/srt/udp-relay-rig.ts";
import { FIRST } from "../src/platform/http/certificate.fixture.ts";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { openArena } from "./support/arena.ts";
import { Broadcast } from "./support/broadcast.ts";
import { freePort } from "./support/weir-process.ts";

/** Senders that nobody here wrote: ffmpeg, GStreamer and srt-live-transmit over SRT, ffmpeg and GStreamer over RTMPS. */

const PASSPHRASE = "senders0of0others";
const folder = makeTestFolder("senders");
const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
beforeAll(() => Promise.all([writeFile(files.cert, FIRST.cert), writeFile(files.key, FIRST.key)]));
afterAll(() => rm(folder, { recursive: true }));

const arena = openArena({
  env: {
    WEIR_SRT_PORT: "0",
    WEIR_SRT_PASSPHRASE: PASSPHRASE,
    WEIR_TLS_CERT: files.cert,
    WEIR_TLS_KEY: files.key,
    WEIR_HTTPS_PORT: "0",
    WEIR_RTMPS_PORT: "0",
  },
});

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

function run(program: string, args: readonly string[]): ChildProcess {
  if (!existsSync(`/usr/bin/${program}`))
    throw new Error(`there is no ${program}: apt-get install ffmpeg srt-tools gstreamer1.0-tools and its plugins`);
  const child = spawn(`/usr/bin/${program}`, args, { stdio: "ignore" });
  running.push(child);
  return child;
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");
const PICTURE = "-re -f lavfi -i testsrc2=size=320x180:rate=30 -f lavfi -i sine=frequency=440:sample_rate=48000";
const H264 = "-c:v libx264 -preset ultrafast -g 60 -pix_fmt yuv420p";
const HEVC = "-c:v libx265 -preset ultrafast -x265-params keyint=60:no-open-gop=1:log-level=error -pix_fmt yuv420p";
const GST_PICTURE =
  "videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=30/1 ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=60 ! h264parse ! mux.";
const GST_SOUND = "audiotestsrc is-live=true ! audioconvert ! avenc_aac ! aacparse ! mux.";

interface Addresses {
  readonly srt: string;
  readonly rtmps: string;
  readonly key: string;
}

const senders: readonly [string, (addresses: Addresses) => unknown, codecs: string][] = [
  [
    "ffmpeg over SRT with H.264 and AAC",
    ({ srt, key }) =>
      run("ffmpeg", [
        ...words(`${PICTURE} ${H264} -c:a aac -f mpegts`),
        `${srt}?streamid=${key}&passphrase=${PASSPHRASE}`,
      ]),
    "avc1",
  ],
  [
    "ffmpeg over SRT with HEVC, LATM, a long latency and the standard stream id",
    ({ srt, key }) =>
      run("ffmpeg", [
        ...words(`${PICTURE} ${HEVC} -c:a aac -mpegts_flags latm -f mpegts`),
        `${srt}?streamid=#!::r=live/${key},m=publish&passphrase=${PASSPHRASE}&latency=800000`,
      ]),
    "hvc1",
  ],
  [
    "ffmpeg over SRT with MP2, as older encoders send",
    ({ srt, key }) =>
      run("ffmpeg", [
        ...words(`${PICTURE} ${H264} -c:a mp2 -f mpegts`),
        `${srt}?streamid=publish:${key}&passphrase=${PASSPHRASE}`,
      ]),
    "avc1",
  ],
  [
    "GStreamer over SRT",
    ({ srt, key }) =>
      run("gst-launch-1.0", [
        ...words(`-e ${GST_PICTURE} ${GST_SOUND} mpegtsmux name=mux alignment=7 ! srtsink`),
        `uri=${srt}?streamid=${key}&passphrase=${PASSPHRASE}`,
      ]),
    "avc1",
  ],
  [
    "srt-live-transmit, fed by ffmpeg",
    async ({ srt, key }) => {
      const udp = `udp://127.0.0.1:${await freePort()}`;
      run("srt-live-transmit", ["-q", udp, `${srt}?streamid=publish:${key}&passphrase=${PASSPHRASE}&latency=300`]);
      run("ffmpeg", [...words(`${PICTURE} ${H264} -c:a aac -f mpegts`), `${udp}?pkt_size=1316`]);
    },
    "avc1",
  ],
  [
    "ffmpeg over RTMPS",
    ({ rtmps, key }) => run("ffmpeg", [...words(`${PICTURE} ${H264} -c:a aac -f flv`), `${rtmps}/${key}`]),
    "avc1",
  ],
  [
    "GStreamer over RTMPS",
    ({ rtmps, key }) =>
      run("gst-launch-1.0", [
        ...words(`-e ${GST_PICTURE} ${GST_SOUND} flvmux name=mux streamable=true ! rtmp2sink tls-validation-flags=0`),
        `location=${rtmps}/${key}`,
      ]),
    "avc1",
  ],
];

test.each(senders)("%s plays", async (name, send, codecs) => {
  const { client } = arena.weir;
  const [{ ingests }] = (await client.ingest.list()) as [Ingest];
  const stream: Stream = await client.streams.create({ name, profiles: [] });
  await send({ srt: ingests.srt ?? "", rtmps: ingests.rtmps ?? "", key: stream.streamKey ?? "" });
  const list = () => fetch(arena.weir.hlsUrl(stream.playbackId)).then((answer) => answer.text());
  await expect.poll(list, { timeout: 40_000 }).toMatch(new RegExp(`CODECS="${codecs}[^"]*mp4a`));
  await expect
    .poll(async () => (await client.streams.get(stream.id)).sourceSegments, { timeout: 40_000 })
    .toBeGreaterThan(2);
  expect((await client.streams.get(stream.id)).status.state).toBe("live");
});

const FRAMES_PER_SECOND = 30;
const LOSSY_SECONDS = Number(process.env.LOSSY_SECONDS ?? 60);

/** ffmpeg behind a network of its own, live. */
async function behindRelay(name: string, latencyMs: number, loss: number) {
  const { client } = arena.weir;
  const [{ ingests }] = (await client.ingest.list()) as [Ingest];
  const relay = await UdpRelay.open({ target: Number(new URL(ingests.srt ?? "").port), roundTripMs: 60, loss });
  const stream = await client.streams.create({ name, profiles: [], record: true });
  const options = `streamid=${stream.streamKey}&passphrase=${PASSPHRASE}&latency=${latencyMs}000`;
  const ffmpeg = run("ffmpeg", [
    ...words(`${PICTURE} ${H264} -c:a aac -f mpegts`),
    `srt://127.0.0.1:${relay.port}?${options}`,
  ]);
  const status = async () => (await client.streams.get(stream.id)).status;
  await expect.poll(async () => (await status()).state, { timeout: 40_000 }).toBe("live");
  const issues = async (): Promise<string[]> => ((await status()).issues ?? []).map(({ code }) => code);
  return { stream, relay, ffmpeg, issues };
}

/** How many pictures are missing between the first and the last one of a recording. */
async function missingPictures(mp4Url: string): Promise<number> {
  const bytes = await fetch(mp4Url).then((answer) => answer.arrayBuffer());
  const video = await new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) }).getPrimaryVideoTrack();
  const { packetCount = 0 } = (await video?.computePacketStats()) ?? {};
  const seconds = ((await video?.computeDuration()) ?? 0) - ((await video?.getFirstTimestamp()) ?? 0);
  expect(seconds).toBeGreaterThan(LOSSY_SECONDS - 10);
  return Math.round(seconds * FRAMES_PER_SECOND) - packetCount;
}

test.each([
  [500, 0],
  [240, 5],
])(
  "ffmpeg with a latency of %i ms over 60 ms, where one packet of 20 is lost: at most %i pictures are missing, and health says so",
  async (latencyMs, most) => {
    const { stream, relay, ffmpeg, issues } = await behindRelay(`latency ${latencyMs}`, latencyMs, 0.05);
    await using _ = relay;
    const seen = new Set<string>();
    const secondsSoFar = async (): Promise<number> => {
      for (const code of await issues()) seen.add(code);
      return (await arena.weir.client.streams.get(stream.id)).sourceSegmentsDuration;
    };
    const patience = { timeout: (LOSSY_SECONDS + 30) * 1000, interval: 500 };
    await expect.poll(secondsSoFar, patience).toBeGreaterThan(LOSSY_SECONDS);
    relay.loss = 0;
    ffmpeg.kill("SIGINT");
    const { mp4Url } = await new Broadcast(arena.weir, arena.weir, stream, {}).recorded();
    const missing = await missingPictures(mp4Url);
    expect(missing).toBeLessThanOrEqual(most);
    expect(seen.has("packets-lost")).toBe(missing > 0);
  },
);

test("a network that begins to lose 30 % is named within 5 s", async () => {
  const { relay, issues } = await behindRelay("worse", 120, 0);
  await using _ = relay;
  expect(await issues()).not.toContain("packets-lost");
  relay.loss = 0.3;
  await expect.poll(issues, { timeout: 5_000, interval: 200 }).toContain("packets-lost");
});
