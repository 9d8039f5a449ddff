import { createSocket } from "node:dgram";
import { type RtpPacket, readRtpPacket, writePli } from "@weir/formats/rtp";
import { readOffer, withCandidates } from "@weir/formats/sdp";
import nodeDataChannel, { type Track } from "node-datachannel";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { browserOffer } from "../testing/fake-peers.ts";
import { findUdpPort } from "./udp-test-port.ts";
import { type PeerSource, WebrtcProcess } from "./webrtc-process.ts";
import { ASKS_TOO_MUCH } from "./webrtc-protocol.ts";

const { PeerConnection, Audio, Video } = nodeDataChannel;

interface Watching {
  readonly track: Track;
  readonly told: readonly string[];
  readonly newest: () => RtpPacket | null;
  /** The audio that has arrived, and its track. */
  readonly sounds: readonly RtpPacket[];
  readonly sound: Track;
  readonly answer: () => string;
  /** The video that has arrived. */
  readonly pictures: readonly RtpPacket[];
}

/** The library's offers fail now and then, when the other side is faster than its own description. */
const TRIES = 5;

/** A player that is connected, and what the server says of it. */
async function watch(source: PeerSource, port: number, tries = TRIES): Promise<Watching> {
  const connection = new PeerConnection("viewer", {
    iceServers: [],
    bindAddress: "127.0.0.1",
    disableAutoNegotiation: true,
  });
  const description = new Video("0", "RecvOnly");
  description.addH264Codec(96, "profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1");
  const track = connection.addTrack(description);
  const audio = new Audio("1", "RecvOnly");
  audio.addOpusCodec(111);
  audio.parseSdpLine("a=rtcp-fb:111 nack");
  const sound = connection.addTrack(audio);
  const [pictures, sounds]: RtpPacket[][] = [[], []];
  for (const [from, packets] of [
    [track, pictures],
    [sound, sounds],
  ] as const)
    from.onMessage((message) => {
      const packet = readRtpPacket(message);
      if (packet) packets?.push({ ...packet, payload: Uint8Array.from(packet.payload) });
    });
  const gathered = new Promise<void>((resolve) => {
    connection.onGatheringStateChange((state) => state === "complete" && resolve());
  });
  connection.setLocalDescription("offer");
  await gathered;
  let answer = "";
  const told: string[] = [];
  const first = Promise.withResolvers<string>();
  const tell = (news: string): void => {
    told.push(news);
    first.resolve(news);
  };
  const offer = connection.localDescription()?.sdp ?? "";
  source.watch(offer, readOffer(offer), {
    answered: (sdp) => {
      answer = sdp;
      try {
        connection.setRemoteDescription(withCandidates(sdp, ["127.0.0.1"], [port]), "answer");
      } catch {
        tell("the library does not take the answer");
      }
    },
    connected: () => tell("connected"),
    closed: tell,
    frame: () => {},
    report: () => {},
  });
  onTestFinished(() => connection.close());
  if ((await first.promise) !== "connected" && tries > 1) return watch(source, port, tries - 1);
  return {
    track,
    told,
    newest: () => pictures?.at(-1) ?? null,
    answer: () => answer,
    sound,
    sounds: sounds ?? [],
    pictures: pictures ?? [],
  };
}

test("no address that an offer names is called: clients send the first check", async () => {
  const port = await findUdpPort();
  const server = new WebrtcProcess({ clock: systemClock, log: silentLog, port, bindAddress: "127.0.0.1" });
  const source = server.openSource();
  const named = createSocket("udp4");
  await new Promise<void>((bound) => named.bind(0, "127.0.0.1", bound));
  let called = 0;
  named.on("message", () => called++);
  const candidate = `a=candidate:1 1 udp 2122260223 127.0.0.1 ${named.address().port} typ host`;
  const offer = `${browserOffer("recvonly")}${candidate}\r\n`;
  const answered = Promise.withResolvers<string>();
  const silent = { connected: () => {}, closed: () => {}, frame: () => {}, report: () => {} };
  source.watch(offer, readOffer(offer), { ...silent, answered: answered.resolve });
  await answered.promise;
  // Meanwhile it would have been called a few times.
  await watch(source, port);
  expect(called).toBe(0);
  named.close();
  await server.close();
});

/** A NACK (RFC 4585 6.2.1) that names the 17 packets before one, 280 times. */
function askAgainAndAgain({ ssrc, sequence }: RtpPacket): Buffer {
  const items = 280;
  const message = Buffer.alloc(12 + items * 4);
  message.set([0x81, 205]);
  message.writeUInt16BE(2 + items, 2);
  message.writeUInt32BE(1, 4);
  message.writeUInt32BE(ssrc, 8);
  for (let at = 12; at < message.length; at += 4) {
    message.writeUInt16BE((sequence - 17) & 0xffff, at);
    message.writeUInt16BE(0xffff, at + 2);
  }
  return message;
}

test("a viewer that asks for the same packets again and again is closed; others go on", async () => {
  const port = await findUdpPort();
  const server = new WebrtcProcess({ clock: systemClock, log: silentLog, port, bindAddress: "127.0.0.1" });
  const source = server.openSource();
  const [misusing, other] = [await watch(source, port), await watch(source, port)];
  const picture = Buffer.alloc(10_004, 7);
  picture.writeUInt32BE(10_000);
  picture[4] = 0x65;
  let time = 0;
  const sending = setInterval(() => {
    time += 3000;
    source.frame({ kind: "video", isIndependent: true, time, data: picture });
  }, 20);
  const told = (): readonly string[] => {
    const newest = misusing.newest();
    if (newest && misusing.told.length === 1) misusing.track.sendMessageBinary(askAgainAndAgain(newest));
    return misusing.told;
  };
  await expect.poll(told, { interval: 20 }).toEqual(["connected", ASKS_TOO_MUCH]);
  const before = other.newest()?.sequence;
  await expect.poll(() => other.newest()?.sequence).not.toBe(before);
  expect(other.told).toEqual(["connected"]);
  clearInterval(sending);
  await server.close();
});

/** A source of one keyframe, then other pictures, and sound. */
function startSource(source: PeerSource): Disposable {
  const picture = (type: number): Buffer => {
    const bytes = Buffer.alloc(304, 7);
    bytes.writeUInt32BE(300);
    bytes[4] = type;
    return bytes;
  };
  const send = (n: number): void => {
    const time = n * 1800;
    source.frame({ kind: "video", isIndependent: n === 0, time, data: picture(n === 0 ? 0x65 : 0x41) });
    source.frame({ kind: "audio", isIndependent: true, time, data: Buffer.alloc(80, n) });
  };
  let sent = 0;
  send(sent++);
  const sending = setInterval(() => send(sent++), 20);
  return { [Symbol.dispose]: () => clearInterval(sending) };
}

async function openServer() {
  const port = await findUdpPort();
  const server = new WebrtcProcess({ clock: systemClock, log: silentLog, port, bindAddress: "127.0.0.1" });
  onTestFinished(() => server.close());
  // What a source sends before there is a process is lost.
  server.prepare();
  return { port, source: server.openSource() };
}

test("lost sound may be requested again: the answer says so, and requests without end close the viewer as for pictures", async () => {
  const { port, source } = await openServer();
  const viewer = await watch(source, port);
  using _ = startSource(source);
  await expect.poll(() => viewer.sounds.length).toBeGreaterThan(5);
  expect(viewer.answer()).toMatch(/^a=rtcp-fb:111 nack\r?$/m);
  const told = (): readonly string[] => {
    const newest = viewer.sounds.at(-1);
    if (newest && viewer.told.length === 1) viewer.sound.sendMessageBinary(askAgainAndAgain(newest));
    return viewer.told;
  };
  await expect.poll(told, { interval: 20 }).toEqual(["connected", ASKS_TOO_MUCH]);
});

test("a viewer that lost the first pictures and asks for a keyframe has one within a second, and no timestamp goes back", async () => {
  const { port, source } = await openServer();
  using _ = startSource(source);
  const viewer = await watch(source, port);
  const isKeyframe = ({ payload }: RtpPacket): boolean => ((payload[0] ?? 0) & 31) === 5;
  await expect.poll(() => viewer.pictures.length).toBeGreaterThan(5);
  const before = viewer.pictures.filter(isKeyframe).length;
  const began = performance.now();
  // As browsers do while they have no picture.
  const asking = setInterval(() => {
    const [{ ssrc } = expect.fail("nothing arrived")] = viewer.pictures;
    viewer.track.sendMessageBinary(Buffer.from(writePli(1, ssrc)));
  }, 200);
  await expect.poll(() => viewer.pictures.filter(isKeyframe).length, { interval: 10 }).toBeGreaterThan(before);
  clearInterval(asking);
  expect(performance.now() - began).toBeLessThan(1000);
  const count = viewer.pictures.length;
  await expect.poll(() => viewer.pictures.length).toBeGreaterThan(count + 60);
  const [first] = viewer.pictures;
  const times = viewer.pictures.map(({ timestamp }) => (timestamp - (first?.timestamp ?? 0)) | 0);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(new Set(times).size).toBe(times.length);
});
