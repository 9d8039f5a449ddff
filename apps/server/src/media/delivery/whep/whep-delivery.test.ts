import { avcParameterSets } from "@weir/formats/codecs";
import { describe, expect, it } from "vitest";
import { Payload } from "../../packet.ts";
import { roomForLadders } from "../../testing/fake-gates.ts";
import { browserOffer, FakePeers } from "../../testing/fake-peers.ts";
import { MediaRig, until } from "../../testing/media-rig.ts";
import { AUDIO, syntheticSource, VIDEO } from "../../testing/synthetic-source.ts";

const PORT = 8189;
/** TOC byte of a packet with one frame of 20 ms. */
const OPUS_20_MS = 0xf8;

/** Of a frame of the source; a silent one has fewer. */
const SOUND_BYTES = 10;

const RUNG = { name: "180p", width: 320, height: 180, fps: 0 };
const WELL = { peer: 1, fractionLost: 0, roundTripMs: 20, retransmits: 0, availableBps: null };

interface LiveShape {
  readonly bFrames?: number;
  readonly audio?: boolean;
  /** Of a rung next to the source. */
  readonly rungBps?: number;
}

/** A live stream for WebRTC viewers. */
async function openLive({ rungBps, ...shape }: LiveShape = { audio: false }) {
  const isTranscoded = rungBps !== undefined;
  const rig = await MediaRig.open(isTranscoded ? roomForLadders() : undefined);
  if (isTranscoded) rig.publishGate.nextStart = { profiles: [{ ...RUNG, bitrate: rungBps }] };
  const peers = new FakePeers();
  const refuse = { offer: async () => ({ status: 401, sentence: "no" }) as const };
  rig.plane.serveWebrtc({
    ...{ publish: refuse, peers, stunPort: null, turn: null },
    address: { addresses: ["203.0.113.5"], host: "0.0.0.0", port: PORT },
  });
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5, ...shape });
  const watch = (headers: Record<string, string> = {}, name = "playstream1") =>
    rig.fetch(`/webrtc/${name}`, {
      method: "POST",
      headers: { "content-type": "application/sdp", ...headers },
      body: browserOffer("recvonly"),
    });
  return { rig, peers, publication, watch, [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose]() };
}

describe("WHEP", () => {
  it("answers with the configured address, and sends pictures from a keyframe with parameter sets on", async () => {
    await using live = await openLive();
    const answer = await live.watch();
    expect(answer.status).toBe(201);
    expect(await answer.text()).toContain(`a=candidate:1 1 UDP 2130706431 203.0.113.5 ${PORT} typ host`);
    await live.rig.send(live.publication, { seconds: 5, audio: false, clockAt: 5 });
    const [first] = live.peers.frames;
    expect(first).toMatchObject({ kind: "video", isIndependent: true });
    const [sps] = avcParameterSets(VIDEO.config).sps;
    expect([...(first?.data.subarray(4, 4 + (sps?.length ?? 0)) ?? [])]).toEqual([...(sps ?? [])]);
    expect(live.peers.frames.length).toBeGreaterThan(30);
  });

  it("sends a publisher's Opus without conversion if AAC exists too, and packages only the AAC", async () => {
    await using live = await openLive({ audio: true });
    const { rig, peers, publication } = live;
    publication.track({ ...AUDIO, id: 2, codec: "opus", codecString: "opus", sameAs: AUDIO.id });
    await rig.send(publication, { seconds: 4, clockAt: 5 });
    expect((await live.watch()).status).toBe(201);
    for (let packets = 0; packets < 20; packets++) {
      const times = { dts: (9 + packets / 50) * 90_000, pts: (9 + packets / 50) * 90_000 };
      const data = new Payload(Uint8Array.of(OPUS_20_MS, packets));
      publication.packet({ trackId: 2, kind: "audio", ...times, isIndependent: true, data });
    }
    await rig.send(publication, { seconds: 1, clockAt: 9 });
    const sound = peers.frames.filter(({ kind, data }) => kind === "audio" && data.length === 2);
    expect(sound.map(({ data }) => data[1])).toEqual(Array.from({ length: 20 }, (_, packet) => packet));
    expect(rig.children.taken).toEqual([]);
    const playlist = await rig.text("/hls/playstream1/index.m3u8");
    expect([...playlist.matchAll(/TYPE=AUDIO/g)]).toHaveLength(1);
    expect(playlist).not.toContain("opus");
  });

  it("sends silence while a source has no sound, without a hole, and its sound when it is back", async () => {
    await using live = await openLive({ audio: true });
    const { rig, peers } = live;
    await live.watch();
    rig.publishGate.nextStart = { sessionId: "session-1" };
    for (const audio of [false, true]) await rig.send(rig.publish().publication, { seconds: 6, audio });
    const sound = peers.frames.filter(({ kind }) => kind === "audio");
    const steps = sound.slice(1).map(({ time }, index) => Math.round(time - (sound[index]?.time ?? 0)));
    expect(new Set(steps)).toEqual(new Set([(1024 * 90_000) / 48_000]));
    const isSilent = sound.map(({ data }) => data.byteLength < SOUND_BYTES);
    const frames = isSilent.filter(Boolean).length;
    expect(Math.abs((frames * 1024) / 48_000 - 6)).toBeLessThan(0.1);
    // In one piece, then the sound.
    expect(isSilent.lastIndexOf(true) - isSilent.indexOf(true) + 1).toBe(frames);
    expect(sound.length - isSilent.lastIndexOf(true)).toBeGreaterThan(250);
    expect(peers.latest.isClosed).toBe(false);
  });

  it("requires a credential that the gate accepts, and does not distinguish unknown from gated ids", async () => {
    await using live = await openLive();
    live.rig.playbackGate.policy = "webhook";
    const answers = [
      await live.watch(),
      await live.watch({ "service-access-key": "bad" }),
      await live.watch({}, "unknown1"),
    ];
    const told = await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]));
    expect(new Set(told.map(String)).size).toBe(1);
    expect(told[0]).toEqual([403, expect.stringContaining("not allowed to view this stream")]);
    expect(live.peers.peers).toEqual([]);
    expect((await live.watch({ "service-access-key": "good" })).status).toBe(201);
    expect(live.rig.playbackGate.opened.at(-1)?.viewer.protocol).toBe("whep");
  });

  it("tells the relays to those whom it would let watch, and counts nobody for it", async () => {
    await using live = await openLive();
    const ask = async (headers: Record<string, string> = {}, name = "playstream1") => {
      const answer = await live.rig.fetch(`/webrtc/${name}/ice-servers`, { headers });
      return [answer.status, await answer.text()];
    };
    live.rig.playbackGate.policy = "webhook";
    const refused = [
      await ask({ "service-access-key": "bad" }),
      await ask({}, "unknown1"),
      await ask({}, "Stream-Key"),
    ];
    expect(new Set(refused.map(String)).size).toBe(1);
    expect(refused[0]?.[0]).toBe(403);
    expect(await ask({ "service-access-key": "good" })).toEqual([200, '{"iceServers":[]}']);
    expect(live.peers.peers).toEqual([]);
    live.publication.end("clean-stop", "done");
    expect((await ask({ "service-access-key": "good" }))[0]).toBe(404);
  });

  it("refuses offline streams and recordings", async () => {
    await using live = await openLive();
    live.publication.end("clean-stop", "done");
    live.rig.playbackGate.onlyWhileWatched = true;
    const answer = await live.watch();
    expect(live.rig.playbackGate.wanted).toEqual(["stream-1"]);
    expect([answer.status, await answer.text()]).toEqual([404, "Could not retrieve stream: Stream open failed"]);
    expect((await live.watch({}, "recording1")).status).toBe(404);
  });

  it("removes a viewer who does not connect within 30 s of the answer, and no connected one", async () => {
    await using live = await openLive();
    const { rig, peers } = live;
    const resource = (await live.watch()).headers.get("location") ?? "";
    const silent = peers.latest;
    await live.watch();
    peers.latest.handler.connected();
    rig.clock.advance(29_999);
    expect([silent.isClosed, rig.plane.figures.webrtcViewers]).toEqual([false, 2]);
    rig.clock.advance(1);
    expect([silent.isClosed, peers.latest.isClosed, rig.plane.figures.webrtcViewers]).toEqual([true, false, 1]);
    expect((await rig.fetch(resource, { method: "DELETE" })).status).toBe(404);
  });

  it("closes a viewer within ten seconds of a revocation, and immediately when access rules change", async () => {
    await using live = await openLive();
    const { rig, peers } = live;
    rig.playbackGate.policy = "webhook";
    await live.watch({ "service-access-key": "good" });
    const first = peers.latest;
    rig.playbackGate.allowed.clear();
    for (let seconds = 0; seconds < 20 && !first.isClosed; seconds++) {
      rig.clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(first.isClosed).toBe(true);
    rig.playbackGate.allowed.add("good");
    await live.watch({ "service-access-key": "good" });
    rig.playbackGate.allowed.clear();
    rig.plane.accessChanged("playstream1");
    await until(() => peers.latest.isClosed, "the second viewer to be closed");
  });

  it("counts its viewers for as long as they watch", async () => {
    await using live = await openLive();
    const { rig, peers } = live;
    await live.watch();
    peers.latest.handler.connected();
    expect(rig.plane.figures.webrtcViewers).toBe(1);
    const now = () => rig.facts.viewerCounts.at(-1)?.now;
    for (let seconds = 0; seconds < 50; seconds++) {
      rig.clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(now()).toBe(1);
    peers.latest.leave();
    for (let seconds = 0; seconds < 50; seconds++) rig.clock.advance(1000);
    expect([rig.plane.figures.webrtcViewers, now()]).toEqual([0, 0]);
  });

  it("gives a viewer with high packet loss a rung of the ladder with audio, and the source again afterwards", async () => {
    await using live = await openLive({ audio: true, rungBps: 10_000 });
    const { rig, peers, publication } = live;
    await live.watch();
    await live.watch();
    const [viewer, bystander] = peers.peers;
    let clockAt = 5;
    const second = async (fractionLost: number) => {
      await rig.send(publication, { seconds: 2, clockAt });
      clockAt += 2;
      for (const [peer, lost] of [[viewer, fractionLost] as const, [bystander, 0] as const])
        peer?.handler.report({ ...WELL, fractionLost: lost });
    };
    for (let reports = 0; reports < 3; reports++) await second(0);
    const [best] = viewer?.shown ?? [];
    for (let reports = 0; reports < 2; reports++) await second(0.7);
    const [rung = 0, ...how] = viewer?.shown ?? [];
    expect([rung === best, how, bystander?.shown]).toEqual([false, [false, true], [best, false, false]]);
    await second(0);
    const ofRung = peers.frames.filter(({ source }) => source === rung);
    expect(ofRung.find(({ kind }) => kind === "video")?.isIndependent).toBe(true);
    for (let reports = 0; reports < 5; reports++) await second(0);
    expect(viewer?.shown).toEqual([best, false, false]);
    expect(peers.openSources).toBe(2);
    rig.clock.advance(10_000);
    expect(peers.openSources).toBe(1);
  });

  it("sends a rung with the publisher's Opus as it came, though its memory is used again after each packet", async () => {
    await using live = await openLive({ audio: true, rungBps: 10_000 });
    const { rig, peers, publication } = live;
    publication.track({ ...AUDIO, id: 2, codec: "opus", codecString: "opus", sameAs: AUDIO.id });
    await live.watch();
    const viewer = peers.latest;
    const [best] = viewer.shown;
    let clockAt = 5;
    const twoSeconds = async (fractionLost: number) => {
      await rig.send(publication, { seconds: 2, clockAt });
      clockAt += 2;
      viewer.handler.report({ ...WELL, fractionLost });
    };
    for (const lost of [0, 0, 0, 0.7, 0.7]) await twoSeconds(lost);
    const [rung] = viewer.shown;
    expect(rung).not.toBe(best);
    for (let packet = 0; packet < 20; packet++) {
      const times = { dts: (clockAt + packet / 50) * 90_000, pts: (clockAt + packet / 50) * 90_000 };
      const bytes = Uint8Array.of(OPUS_20_MS, packet);
      const data = new Payload(bytes, { release: () => bytes.fill(0xff) });
      publication.packet({ trackId: 2, kind: "audio", ...times, isIndependent: true, data });
    }
    await twoSeconds(0);
    const sound = peers.frames.filter(
      ({ source, kind, data }) => source === rung && kind === "audio" && data.length === 2,
    );
    expect(sound.map(({ data: [, packet] }) => packet)).toEqual(Array.from({ length: 20 }, (_, packet) => packet));
  });

  it("reports the viewers' connection quality to the session", async () => {
    await using live = await openLive();
    await live.watch();
    await live.watch();
    const [one, other] = live.peers.peers;
    one?.handler.report({ ...WELL, roundTripMs: 40, fractionLost: 0.1, retransmits: 3 });
    other?.handler.report({ ...WELL, retransmits: 1 });
    await live.rig.send(live.publication, { seconds: 10, audio: false, clockAt: 5 });
    const viewers = { count: 2, lowered: 0, roundTripMs: 40, fractionLost: 0.05, retransmits: 4 };
    expect(live.rig.facts.of("source-metrics").at(-1)?.webrtc).toEqual({ publisher: null, viewers, hasBFrames: false });
  });

  it("closes its viewers if B-frames appear and there is no capacity to re-encode", async () => {
    await using live = await openLive();
    // Its configuration declares Baseline, so only the first keyframe reveals B-frames.
    await live.watch();
    const isTold = () => live.rig.facts.of("source-metrics").at(-1)?.webrtc.hasBFrames;
    expect(isTold()).toBe(false);
    await live.rig.send(live.publication, { seconds: 5, audio: false, bFrames: 2, clockAt: 5 });
    expect([live.peers.latest.isClosed, isTold()]).toEqual([true, true]);
  });

  it("refuses a stream with undeclared B-frames with 406 and a reason, if there is no capacity to re-encode", async () => {
    await using live = await openLive({ audio: false, bFrames: 2 });
    const answer = await live.watch();
    expect([answer.status, await answer.text()]).toEqual([406, expect.stringContaining("no capacity to re-encode")]);
    expect(live.peers.peers).toEqual([]);
  });

  it("refuses a codec that WebRTC does not support with 406 and a reason, if there is no capacity to re-encode", async () => {
    await using live = await openLive();
    live.publication.track({ ...VIDEO, codec: "av1", config: Uint8Array.of(0x81, 0, 0, 0) });
    for (const { at, packet } of syntheticSource({ seconds: 2, audio: false, clockAt: 5 })) {
      if (at % 100 < 34) live.rig.clock.advance(34);
      live.publication.packet(packet);
    }
    const answer = await live.watch();
    expect([answer.status, await answer.text()]).toEqual([406, expect.stringMatching(/no capacity to re-encode.*HLS/)]);
    expect(live.peers.peers).toEqual([]);
  });

  it("tells a viewer who comes while the source is away to ask again, with 404 rather than 406, and shows what follows", async () => {
    await using live = await openLive();
    live.publication.end("source-lost", "reset");
    let answer: Response | undefined;
    void live.watch().then((come) => {
      answer = come;
    });
    const { status, headers } = await until(() => {
      live.rig.clock.advance(10);
      return answer;
    }, "the answer");
    expect([status, headers.get("retry-after")]).toEqual([404, "2"]);
    live.rig.publishGate.nextStart = { sessionId: "session-1" };
    await live.rig.send(live.rig.publish().publication, { seconds: 5, audio: false });
    expect((await live.watch()).status).toBe(201);
  });

  it("prepares no stream for refused viewers", async () => {
    await using live = await openLive();
    live.rig.playbackGate.isFull = true;
    expect((await live.watch()).status).toBe(403);
    expect(live.peers.openSources).toBe(1);
    live.rig.clock.advance(5_000);
    expect(live.peers.openSources).toBe(0);
  });

  it("closes its viewers and releases everything when the stream ends", async () => {
    await using live = await openLive();
    await live.watch();
    live.publication.end("clean-stop", "done");
    expect(live.peers.latest.isClosed).toBe(true);
    expect([live.rig.plane.figures.webrtcViewers, live.peers.openSources]).toEqual([0, 0]);
  });
});
