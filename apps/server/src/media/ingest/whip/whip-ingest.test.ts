import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { lengthPrefixed } from "@weir/formats/codecs";
import { readOffer } from "@weir/formats/sdp";
import { describe, expect, it } from "vitest";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { messageReader } from "../../../platform/pipe-frames.ts";
import { browserOffer, FakePeers } from "../../testing/fake-peers.ts";
import { VIDEO } from "../../testing/synthetic-source.ts";
import type { FromChild, ToChild, TranscodeChildHandler, TranscodeChildren } from "../../transcode/index.ts";
import type { OfferAnswer } from "../../webrtc/webrtc-offer.ts";
import { IngestRig } from "../ingest-rig.ts";
import { WhipIngest } from "./whip-ingest.ts";

const SPS = Buffer.from("6742c016da0280bfe584000003000400000300783c58ba80", "hex");
const PPS = Buffer.from("68ce0fc8", "hex");
const IDR = Uint8Array.of(0x65, 1, 2);

/** A child that converts nothing and sends what a test says. */
function audioChild() {
  const taken: ToChild[] = [];
  let handler: TranscodeChildHandler | null = null;
  let kills = 0;
  const children: TranscodeChildren = {
    take(taker) {
      const read = messageReader<ToChild>();
      handler = taker;
      return {
        pid: 1,
        isLoaded: true,
        backlogBytes: 0,
        send: (frame) => taken.push(...read(frame)),
        kill: () => {
          kills++;
        },
      };
    },
    start: (starter) => children.take(starter),
  };
  return { children, taken, say: (message: FromChild) => handler?.message(message), kills: () => kills };
}

function open() {
  const rig = new IngestRig();
  const peers = new FakePeers();
  const audio = audioChild();
  const whip = new WhipIngest({
    ...{ publishing: rig.publishing, proxies: new TrustedProxies([]), peers, children: audio.children },
    address: { addresses: ["203.0.113.5"], host: "0.0.0.0", port: 8189 },
  });
  const sdp = browserOffer("sendonly");
  const offer = (name = "Right-Key") => {
    const req = new IncomingMessage(new Socket());
    return whip.offer({ req, url: `/webrtc/${name}`, name, sdp, offer: readOffer(sdp), admitted: null });
  };
  const publish = async (): Promise<OfferAnswer> => {
    const answer = await offer();
    if ("status" in answer) throw new Error(answer.sentence);
    return answer;
  };
  return { rig, peers, audio, whip, offer, publish };
}

const picture = (time: number, ...units: Uint8Array[]) =>
  ({ kind: "video", isIndependent: units.includes(IDR), time, data: lengthPrefixed(units) }) as const;

describe("WHIP", () => {
  it("publishes a browser's media: pictures without parameter sets, its Opus, and the same audio as AAC", async () => {
    const { rig, peers, audio, publish } = open();
    await publish();
    expect(rig.asked).toMatchObject([{ protocol: "whip", streamKey: "Right-Key" }]);
    const { handler } = peers.latest;
    handler.frame(picture(9000, SPS, PPS, IDR));
    handler.frame(picture(12_000, Uint8Array.of(0x41, 1)));
    handler.frame({ kind: "audio", isIndependent: true, time: 9000, data: Uint8Array.of(0xfc) });
    expect(audio.taken.map(({ type }) => type)).toEqual(["start-audio", "audio"]);
    // The converter has yet to start.
    expect(rig.publication.tracks.map(({ id }) => id)).toEqual([0, 2, 1]);
    audio.say({ type: "audio", pts: 9000, data: Uint8Array.of(1) });
    handler.frame({ kind: "audio", isIndependent: true, time: 10_800, data: Uint8Array.of(0xfc, 1) });
    const { tracks, packets } = rig.publication;
    expect(tracks).toMatchObject([
      {
        id: 0,
        codec: "avc",
        config: Uint8Array.from(VIDEO.config),
        width: 640,
        height: 360,
        codecString: "avc1.42c016",
      },
      { id: 2, codec: "opus", sampleRate: 48_000, channels: 2, sameAs: 1 },
      { id: 1, codec: "aac", sampleRate: 48_000, channels: 2, frameSamples: 1024 },
    ]);
    expect(
      packets.map(({ trackId, dts, isIndependent, data }) => [trackId, dts, isIndependent, data.byteLength]),
    ).toEqual([
      [0, 9000, true, 7],
      [0, 12_000, false, 6],
      [2, 9000, true, 1],
      [1, 9000, true, 1],
      [2, 10_800, true, 2],
    ]);
  });

  it("leaves no child for sound whose first track closes the publisher", async () => {
    const { rig, peers, audio, publish } = open();
    await publish();
    const { handler } = peers.latest;
    handler.frame(picture(9000, SPS, PPS, IDR));
    // As after a burst.
    rig.publication.waitMs = 500;
    handler.frame({ kind: "audio", isIndependent: true, time: 9000, data: Uint8Array.of(0xfc) });
    expect(peers.latest.isClosed).toBe(true);
    expect(audio.kills()).toBe(audio.taken.filter(({ type }) => type === "start-audio").length);
  });

  it("reports the connection quality since the hub's last query", async () => {
    const { rig, peers, publish } = open();
    await publish();
    const link = () => rig.publication.publisher.takeLink?.();
    expect(link()).toBeNull();
    const report = { peer: 1, roundTripMs: 30, availableBps: null };
    peers.latest.handler.report({ ...report, fractionLost: 0.1, retransmits: 4 });
    peers.latest.handler.report({ ...report, fractionLost: 0.3, retransmits: 10 });
    expect(link()).toEqual({ roundTripMs: 30, fractionLost: 0.2, retransmits: 10 });
    peers.latest.handler.report({ ...report, fractionLost: 0, retransmits: 11 });
    expect([link(), link()]).toEqual([{ roundTripMs: 30, fractionLost: 0, retransmits: 1 }, null]);
  });

  it("announces a new picture size when it changes, and the same size once", async () => {
    const { rig, peers, publish } = open();
    await publish();
    const other = Buffer.from(SPS);
    other[3] = 0x1f;
    for (const sps of [SPS, SPS, other]) peers.latest.handler.frame(picture(0, sps, PPS, IDR));
    expect(rig.publication.tracks.map((track) => track.codecString)).toEqual(["avc1.42c016", "avc1.42c01f"]);
  });

  it("refuses a wrong key with the common sentence", async () => {
    const { peers, offer } = open();
    expect(await offer("Wrong-Key")).toEqual({
      status: 401,
      sentence: expect.stringContaining("Check the stream key"),
    });
    expect(peers.peers).toEqual([]);
  });

  it("is closed where its clock runs faster than real time: nothing slows it down", async () => {
    const { rig, peers, publish } = open();
    const answer = await publish();
    const { handler } = peers.latest;
    handler.frame(picture(9000, SPS, PPS, IDR));
    expect(rig.publication.ends).toEqual([]);
    rig.publication.waitMs = 250;
    handler.frame(picture(189_000, IDR));
    await answer.ended;
    const sentence = expect.stringContaining("faster than real time");
    expect(rig.refused).toMatchObject([{ protocol: "whip", sentence }]);
    expect(rig.publication.ends).toEqual([{ why: "source-lost", reason: sentence }]);
    rig.clock.advance(10_000);
  });

  it("ends the stream when the client deletes the connection, and waits for a lost publisher", async () => {
    for (const isWanted of [true, false]) {
      const { rig, peers, audio, publish } = open();
      const answer = await publish();
      peers.latest.handler.frame({ kind: "audio", isIndependent: true, time: 0, data: Uint8Array.of(0xfc) });
      if (isWanted) answer.close(true);
      else peers.latest.leave("the connection was lost");
      await answer.ended;
      expect(rig.publication.ends).toMatchObject([{ why: isWanted ? "clean-stop" : "source-lost" }]);
      expect(audio.kills()).toBe(1);
      expect(rig.publishing.places.publishes({ client: null, pushOut: () => {} })).toBe(true);
    }
  });

  it("is closed once by the hub", async () => {
    const { rig, peers, publish } = open();
    const answer = await publish();
    expect(answer.refusal?.()).toBeNull();
    rig.publication.publisher.close("Another encoder took this stream over.");
    await answer.ended;
    expect(answer.refusal?.()).toEqual({ status: 409, sentence: "Another encoder took this stream over." });
    expect(peers.latest.isClosed).toBe(true);
    expect(rig.publication.ends).toEqual([]);
  });

  it("is told to return where the hub expects it back", async () => {
    const { rig, publish } = open();
    const answer = await publish();
    rig.publication.publisher.close("The server is shutting down. Please reconnect.", true);
    await answer.ended;
    expect(answer.refusal?.()).toMatchObject({ status: 503, sentence: expect.stringContaining("shutting down") });
  });

  it("releases its slot if nothing connects within 30 s, and logs the settings to check", async () => {
    const { rig, peers, publish } = open();
    const answer = await publish();
    rig.clock.advance(30_000);
    await answer.ended;
    expect(peers.latest.isClosed).toBe(true);
    expect(rig.publication.ends).toMatchObject([{ why: "source-lost" }]);
    expect(rig.log).toMatch(/offered no host and no srflx and no relay candidates.*Set WEIR_WEBRTC_ADDRESS/);
    expect(rig.log).not.toContain("Right-Key");
  });
});
