import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { avcParameterSets } from "@weir/formats/codecs";
import { writeRtpHeader } from "@weir/formats/rtp";
import { type TsFrame, TsReader } from "@weir/formats/ts";
import { expect, it, vi } from "vitest";
import { systemClock } from "../../../../platform/clock.ts";
import { createLog } from "../../../../platform/log.ts";
import { ManualClock } from "../../../../platform/manual-clock-rig.ts";
import { Outbound } from "../../../../platform/outbound/outbound.ts";
import type { SourcePacket, Track } from "../../../packet.ts";
import { FakeChildren } from "../../../testing/fake-transcoder.ts";
import { PLAIN_MEMORY } from "../../ingest-rig.ts";
import { PacedMemory } from "../paced-memory.ts";
import { interleaved, RtspTestServer, type Script } from "./rtsp-server-rig.ts";
import { openRtsp, placeOf, type RtspPiece } from "./rtsp-source.ts";
import { RtspToPackets } from "./rtsp-to-packets.ts";

const TS = readFileSync(new URL("../../../../../../../packages/formats/src/ts/corpus/avc-adts.m2t", import.meta.url));

/** The media of a file. */
function media() {
  const found = { avc: new Uint8Array(), aac: new Uint8Array(), frames: [] as TsFrame[] };
  const reader = new TsReader({
    track: ({ kind, config }) => {
      if (kind === "video") found.avc = config.slice();
      else found.aac = config.slice();
    },
    frame: (frame) => found.frames.push(frame),
    unsupported: () => {},
  });
  reader.push(TS);
  reader.end();
  return found;
}

const MEDIA = media();
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const { sps, pps } = avcParameterSets(MEDIA.avc);
const SDP = [
  ...["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=control:*", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000"],
  `a=fmtp:96 packetization-mode=1;sprop-parameter-sets=${[...sps, ...pps].map(base64).join(",")}`,
  ...["a=control:trackID=1", "m=audio 0 RTP/AVP 97", "a=rtpmap:97 MPEG4-GENERIC/48000/2"],
  `a=fmtp:97 mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=${Buffer.from(MEDIA.aac).toString("hex")}`,
  ...["a=control:rtsp://10.1.2.3/cam/trackID=2", ""],
].join("\r\n");

/** All of the file as a camera sends it: pictures in fragments, audio with an AU header. */
function* wire(): Generator<Uint8Array, void> {
  const sequence = [65_534, 65_534];
  const packet = (kind: "video" | "audio", timestamp: number, payload: Uint8Array, marker: boolean) => {
    const at = kind === "video" ? 0 : 1;
    const bytes = new Uint8Array(12 + payload.length);
    sequence[at] = ((sequence[at] ?? 0) + 1) & 0xffff;
    const header = { marker, payloadType: 96 + at, sequence: sequence[at], timestamp: timestamp >>> 0, ssrc: at };
    writeRtpHeader(new DataView(bytes.buffer), header);
    bytes.set(payload, 12);
    return interleaved(at * 2, bytes);
  };
  for (const { kind, presentation, data } of MEDIA.frames) {
    if (kind === "audio") {
      const time = Math.round(presentation * (48 / 90));
      const head = [0, 16, data.length >> 5, (data.length << 3) & 0xff];
      yield packet(kind, time, Uint8Array.of(...head, ...data), true);
      continue;
    }
    for (let at = 0; at < data.length; ) {
      const end = at + 4 + Buffer.from(data).readUInt32BE(at);
      const [head = 0, ...body] = data.subarray(at + 4, end);
      for (let from = 0; from < body.length; from += 500) {
        const [isFirst, isLast] = [from === 0, from + 500 >= body.length];
        const flags = (isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | (head & 0x1f);
        const piece = Uint8Array.of((head & 0xe0) | 28, flags, ...body.slice(from, from + 500));
        yield packet(kind, presentation, piece, isLast && end >= data.length);
      }
      at = end;
    }
  }
}

const WIRE = Buffer.concat([...wire()]);

interface Reading {
  readonly clock?: ManualClock;
  readonly own?: readonly number[];
  readonly open?: readonly string[];
  readonly signal?: AbortSignal;
}

function open(url: string, { clock, own = [], open: networks = ["127.0.0.1"], signal }: Reading = {}) {
  const outbound = new Outbound({
    ...{ clock: clock ?? systemClock, allowPrivate: false, pullNetworks: networks },
    own: () => ({ ports: own, publicUrl: "https://weir.example" }),
  });
  return openRtsp(
    { url },
    {
      outbound,
      srt: { connect: () => ({ send() {}, close() {} }) },
      clock: clock ?? systemClock,
      memory: PLAIN_MEMORY,
      ahead: new PacedMemory(),
      signal: signal ?? new AbortController().signal,
    },
  );
}

async function read(url: string, reading: Reading = {}): Promise<RtspPiece[]> {
  const pieces: RtspPiece[] = [];
  for await (const piece of open(url, reading)) pieces.push(piece);
  return pieces;
}

const plays: Script = ({ method }, socket) => {
  if (method === "PLAY") setImmediate(() => socket.end());
  return method === "PLAY" ? { after: WIRE } : undefined;
};

it("a camera's H.264 and AAC become the packets that were in the file", async () => {
  await using camera = await RtspTestServer.start(SDP, plays);
  const tracks: Track[] = [];
  const packets: SourcePacket[] = [];
  const sink = {
    track: (track: Track) => void tracks.push(track),
    packet: (one: SourcePacket) => void packets.push(one),
  };
  const memory = { allocate: (bytes: number) => new Uint8Array(bytes), release: () => {} };
  const reader = new RtspToPackets(sink, {
    ...{
      clock: new ManualClock(),
      log: createLog({ level: "silent", readable: false }),
      children: new FakeChildren(),
      memory,
    },
  });
  const pieces = open(camera.url);
  await expect(
    (async () => {
      for await (const piece of pieces) reader.push(piece);
    })(),
  ).rejects.toThrow("closed the connection");
  expect(camera.asked.slice(0, 5)).toEqual([
    ...["OPTIONS /cam", "DESCRIBE /cam", "SETUP /cam/trackID=1", "SETUP /cam/trackID=2", "PLAY /cam/"],
  ]);
  expect(tracks.map(({ kind, codec }) => `${kind} ${codec}`)).toEqual(["video avc", "audio aac"]);
  const of = (kind: string) => packets.filter((packet) => packet.kind === kind);
  const sent = (kind: string) => MEDIA.frames.filter((frame) => frame.kind === kind);
  expect(of("audio").map(({ data }) => base64(data.bytes))).toEqual(sent("audio").map(({ data }) => base64(data)));
  expect(of("video").map(({ data }) => base64(data.bytes))).toEqual(sent("video").map(({ data }) => base64(data)));
  expect(of("video").every(({ dts, pts }) => dts <= pts)).toBe(true);
  const times = of("video").map(({ pts }) => pts - (of("video")[0]?.pts ?? 0));
  const [first] = sent("video");
  expect(times).toEqual(sent("video").map(({ presentation }) => presentation - (first?.presentation ?? 0)));
});

const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const field = (text: string, name: string) => new RegExp(`${name}="?([^",]*)`).exec(text)?.[1] ?? "";

/** A server that wants Digest, and a new nonce after the third answer. */
function digest(algorithm: "MD5" | "SHA-256"): Script {
  const hash = (text: string) =>
    createHash(algorithm === "MD5" ? "md5" : "sha256")
      .update(text)
      .digest("hex");
  let nonce = "first";
  let answers = 0;
  return (request, socket) => {
    const given = request.headers.get("authorization")?.[0] ?? "";
    const secret = hash("me:cam:p@ss");
    const [nc, cnonce, uri] = [field(given, "nc"), field(given, "cnonce"), field(given, "uri")];
    const wanted = hash(`${secret}:${nonce}:${nc}:${cnonce}:auth:${hash(`${request.method}:${request.url}`)}`);
    const isRight = field(given, "response") === wanted && field(given, "nonce") === nonce && uri === request.url;
    if (isRight && ++answers !== 3) return plays(request, socket);
    const stale = isRight ? ", stale=TRUE" : "";
    if (isRight) nonce = "second";
    const challenge = `Digest realm="cam", nonce="${nonce}", qop="auth", algorithm=${algorithm}${stale}`;
    return { status: 401, headers: ['WWW-Authenticate: Basic realm="cam"', `WWW-Authenticate: ${challenge}`] };
  };
}

it.each(["MD5", "SHA-256"] as const)(
  "Digest with %s is answered, also with a new nonce, and no password is sent",
  async (algorithm) => {
    await using camera = await RtspTestServer.start(SDP, digest(algorithm));
    const url = camera.url.replace("//", "//me:p%40ss@");
    await expect(read(url)).rejects.toThrow("closed the connection");
    expect(camera.authorizations.join()).not.toMatch(/Basic|p@ss/);
    await expect(read(url.replace("%40", "x"))).rejects.toThrow("401. Check its user name");
  },
);

it("Digest without qop, as old cameras want it, and Basic where there is nothing else", async () => {
  const given: string[] = [];
  const wants =
    (challenge: string): Script =>
    (request, socket) => {
      const authorization = request.headers.get("authorization")?.[0];
      if (authorization === undefined) return { status: 401, headers: [`WWW-Authenticate: ${challenge}`] };
      given.push(authorization);
      return plays(request, socket);
    };
  for (const challenge of ['Digest realm="cam", nonce="n"', "Basic"]) {
    await using camera = await RtspTestServer.start(SDP, wants(challenge));
    await expect(read(camera.url.replace("//", "//me:pw@"))).rejects.toThrow("closed the connection");
    if (challenge === "Basic") continue;
    const expected = md5(`${md5("me:cam:pw")}:n:${md5(`OPTIONS ${camera.url}`.replace(" ", ":"))}`);
    expect(field(given[0] ?? "", "response")).toBe(expected);
  }
  expect(given.at(-1)).toBe(`Basic ${btoa("me:pw")}`);
});

it("a redirect is followed without the password, through the rules for networks", async () => {
  await using other = await RtspTestServer.start(SDP, plays);
  const to =
    (location: string): Script =>
    ({ method }) =>
      method === "DESCRIBE" ? { status: 302, headers: [`Location: ${location}`] } : undefined;
  await using camera = await RtspTestServer.start(SDP, to(other.url));
  await expect(read(camera.url.replace("//", "//me:pw@"))).rejects.toThrow("closed the connection");
  expect(other.authorizations.join("")).toBe("");
  for (const [location, sentence] of [
    ["rtsp://10.0.0.9/cam", "WEIR_PULL_NETWORKS"],
    ["rtsp://169.254.169.254/", "WEIR_PULL_NETWORKS"],
    ["file:///etc/passwd", "no rtsp://"],
    ["/cam", "more than 5 times"],
  ] as const) {
    await using bad = await RtspTestServer.start(SDP, to(location));
    await expect(read(bad.url)).rejects.toThrow(sentence);
  }
});

const describe =
  (sdp: string): Script =>
  ({ method }) =>
    method === "DESCRIBE" ? { body: sdp } : undefined;
const onSetup =
  (answer: ReturnType<Script>): Script =>
  ({ method }) =>
    method === "SETUP" ? answer : undefined;
const line = (codec: string, kind = "video") => `v=0\r\nm=${kind} 0 RTP/AVP 96\r\na=rtpmap:96 ${codec}\r\n`;
const cuts: Script = (_request, socket) => {
  socket.destroy();
  return { isSilent: true };
};

it.each<[string, Script, string]>([
  ["media over UDP only", onSetup({ status: 461 }), "over UDP only"],
  ["no track there", onSetup({ status: 404 }), "404"],
  ["HTTP", () => ({ raw: "HTTP/1.1 400 Bad Request\r\n\r\n" }), "does not speak RTSP"],
  ["an endless head", () => ({ raw: `RTSP/1.0 200 OK\r\n${"a: b\r\n".repeat(10_000)}` }), "does not speak RTSP"],
  [
    "a body of a gigabyte",
    () => ({ raw: "RTSP/1.0 200 OK\r\nContent-Length: 999999999\r\n\r\n" }),
    "does not speak RTSP",
  ],
  ["no description", describe("hello"), "description cannot be read"],
  ["nothing in it", describe("v=0\r\n"), "neither video nor audio"],
  ["video of another codec", describe(line("VP8/90000")), "does not support VP8 video"],
  ["audio of another codec", describe(line("G726-32/8000", "audio")), "does not support G726-32 audio"],
  ["a track with a space in its name", describe(`${line("H264/90000")}a=control:a b\r\n`), "no address"],
  ["a cut", cuts, "closed the connection"],
])("%s is refused with a sentence", async (_what, script, sentence) => {
  await using camera = await RtspTestServer.start(SDP, script);
  await expect(read(camera.url)).rejects.toThrow(sentence);
});

it("a closed network, this server and a closed port are not connected to", async () => {
  await using camera = await RtspTestServer.start(SDP, plays);
  await expect(read(camera.url, { open: [] })).rejects.toThrow("WEIR_PULL_NETWORKS");
  await expect(read(camera.url, { own: [camera.port] })).rejects.toThrow("leads back to this server");
  await expect(read("rtsp://127.0.0.1:25/a")).rejects.toThrow("is not allowed");
  await expect(read("rtsp://127.0.0.1:6/a")).rejects.toThrow("cannot be reached");
  expect(camera.asked).toEqual([]);
});

it("a server that trickles, or says nothing, is left after 15 s", async () => {
  for (const raw of ["RTSP/1.0 200", ""]) {
    const clock = new ManualClock();
    await using camera = await RtspTestServer.start(SDP, () => ({ raw }));
    const failed = expect(read(camera.url, { clock })).rejects.toThrow("did not answer within 15 s");
    await vi.waitFor(() => expect(camera.asked).toHaveLength(1));
    clock.advance(15_000);
    await failed;
    await vi.waitFor(() => expect(camera.sockets.size).toBe(0));
  }
});

it("the session is kept alive at half its timeout, by OPTIONS where GET_PARAMETER is not known, and torn down", async () => {
  const clock = new ManualClock();
  const over = new AbortController();
  const [first] = wire();
  await using camera = await RtspTestServer.start(SDP, ({ method }) => {
    if (method === "PLAY") return { after: first ?? new Uint8Array() };
    return method === "GET_PARAMETER" ? { status: 501, after: first ?? new Uint8Array() } : undefined;
  });
  const pieces = open(camera.url, { clock, signal: over.signal });
  await pieces.next();
  await pieces.next();
  clock.advance(5_000);
  await vi.waitFor(() => expect(camera.asked.at(-1)).toBe("GET_PARAMETER /cam/"));
  await pieces.next();
  clock.advance(5_000);
  await vi.waitFor(() => expect(camera.asked.at(-1)).toBe("OPTIONS /cam/"));
  await pieces.return();
  await vi.waitFor(() => expect(camera.asked.at(-1)).toBe("TEARDOWN /cam/"));
  clock.advance(1_000);
  await vi.waitFor(() => expect(camera.sockets.size).toBe(0));
});

it("packets with wrong lengths and of unknown channels end in nothing worse than a refusal", async () => {
  await using camera = await RtspTestServer.start(SDP, ({ method }, socket) => {
    if (method !== "PLAY") return undefined;
    setImmediate(() => socket.end());
    return {
      after: Buffer.concat([
        interleaved(0, new Uint8Array(3)),
        interleaved(77, WIRE.subarray(0, 9)),
        WIRE.subarray(0, 60),
      ]),
    };
  });
  await expect(read(camera.url)).rejects.toThrow("closed the connection");
});

it.each([
  ["*", "rtsp://a/b"],
  ["trackID=1", "rtsp://a/b/trackID=1"],
  ["/trackID=1", "rtsp://a/b/trackID=1"],
  ["rtsp://10.0.0.1:99/x?y=1", "rtsp://a/x?y=1"],
  ["?track=1", "rtsp://a/b?track=1"],
])("of the track %s the address is %s", (control, address) => expect(placeOf(control, "rtsp://a/b")).toBe(address));

it("a packet keeps nothing of what came with it", async () => {
  const padding = Buffer.alloc(10_000, "\n");
  const after = Buffer.concat([interleaved(0, new Uint8Array(20)), padding]);
  await using camera = await RtspTestServer.start(SDP, ({ method }) => (method === "PLAY" ? { after } : undefined));
  for await (const piece of open(camera.url)) {
    if (piece.type !== "media") continue;
    expect([piece.bytes.byteLength, piece.bytes.buffer.byteLength]).toEqual([20, 20]);
    break;
  }
});

it("a server that finds each answer to its challenge too old is not answered for ever", async () => {
  let asked = 0;
  const script: Script = ({ method }, socket) => {
    if (method !== "DESCRIBE") return undefined;
    // So that a client without an end has one.
    if (++asked > 50) socket.destroy();
    return { status: 401, headers: [`WWW-Authenticate: Digest realm="a", nonce="${asked}", stale=true`] };
  };
  await using camera = await RtspTestServer.start(SDP, script);
  await expect(read(camera.url.replace("//", "//user:pass@"))).rejects.toThrow("answered 401");
  expect(asked).toBeLessThan(10);
});
