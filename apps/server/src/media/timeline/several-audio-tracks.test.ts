import { expect, test } from "vitest";
import type { AudioTrack } from "../packet.ts";
import {
  type Arrival,
  AUDIO,
  SECOND_AUDIO,
  type SourceShape,
  syntheticSource,
  VIDEO,
  withSecondAudio,
} from "../testing/synthetic-source.ts";
import { TimelineRig } from "../testing/timeline-rig.ts";
import type { Sample } from "./timeline-sink.ts";

function send(rig: TimelineRig, shape: SourceShape, change = withSecondAudio): void {
  rig.timeline.track(SECOND_AUDIO);
  rig.send(shape, change);
}

const of = (rig: TimelineRig, trackId: number) => rig.samples.filter((sample) => sample.trackId === trackId);
const times = (samples: readonly Sample[]) => samples.map(({ time }) => time);

function expectNoHoles(samples: readonly Sample[]): void {
  for (const [index, sample] of samples.entries()) {
    const before = samples[index - 1];
    if (before) expect(sample.time).toBe(before.time + before.duration);
  }
}

test("a second audio track runs parallel to the first, and a stretch lists its tracks ordered by id", () => {
  const rig = new TimelineRig();
  send(rig, { seconds: 6 });
  expect(rig.stretches).toEqual([[VIDEO, AUDIO, SECOND_AUDIO]]);
  expect(of(rig, AUDIO.id).length).toBeGreaterThan(250);
  expect(times(of(rig, SECOND_AUDIO.id))).toEqual(times(of(rig, AUDIO.id)));
});

test("silence fills the gap of one audio track and no other", () => {
  const rig = new TimelineRig();
  const isLost = (at: number) => at >= 2000 && at < 8000;
  send(rig, { seconds: 10 }, (arrivals) =>
    withSecondAudio(arrivals).filter(({ at, packet }) => packet.trackId !== SECOND_AUDIO.id || !isLost(at)),
  );
  const silent = (samples: readonly Sample[]) => samples.filter(({ data }) => data.byteLength !== 10).length;
  expect(silent(of(rig, AUDIO.id))).toBe(0);
  expect(silent(of(rig, SECOND_AUDIO.id))).toBeGreaterThan(250);
  expect(rig.corrections.silentFrames).toBe(silent(of(rig, SECOND_AUDIO.id)));
  expectNoHoles(of(rig, SECOND_AUDIO.id));
});

test("when the source's clock jumps, all three tracks continue in one new stretch", () => {
  const rig = new TimelineRig();
  send(rig, { seconds: 4 });
  // The second audio track jumps last, 200 ms after the others; its packets of that time are kept.
  send(rig, { seconds: 4, clockAt: 500 }, (arrivals) =>
    withSecondAudio(arrivals)
      .map(({ at, packet }) => ({ at: packet.trackId === SECOND_AUDIO.id ? at + 200 : at, packet }))
      .sort((a, b) => a.at - b.at),
  );
  expect(rig.stretches).toHaveLength(2);
  expect(rig.timeline.clockJumps).toBe(1);
  expect(rig.cuts.some(({ discontinuity }) => discontinuity)).toBe(false);
  for (const track of [AUDIO, SECOND_AUDIO]) {
    expectNoHoles(of(rig, track.id));
    expect(of(rig, track.id).length).toBeGreaterThan(360);
  }
});

test("without video the first audio track cuts, and the second is never emitted ahead of it", () => {
  const rig = new TimelineRig();
  // The second track arrives 200 ms ahead of the first.
  const early = ({ at, packet }: Arrival) => ({ at: packet.trackId === AUDIO.id ? at + 200 : at, packet });
  send(rig, { seconds: 10, video: false }, (arrivals) =>
    withSecondAudio(arrivals)
      .map(early)
      .sort((a, b) => a.at - b.at),
  );
  expect(rig.cutSeconds).toHaveLength(5);
  let reached = 0;
  for (const { trackId, time } of rig.samples) {
    if (trackId === AUDIO.id) reached = time;
    else expect(time).toBeLessThanOrEqual(reached);
  }
  expect(times(of(rig, SECOND_AUDIO.id))).toEqual(times(of(rig, AUDIO.id)));
});

test("audio in two codecs starts in one stretch, even if video arrives before it", () => {
  const rig = new TimelineRig();
  const opus: AudioTrack = { ...SECOND_AUDIO, codec: "opus", codecString: "opus", sameAs: AUDIO.id };
  rig.timeline.track(VIDEO);
  const [idr] = syntheticSource({ seconds: 0.03, audio: false });
  if (idr) rig.timeline.packet(idr.packet);
  for (const track of [opus, AUDIO]) rig.timeline.track(track);
  expect(rig.stretches).toEqual([[VIDEO, AUDIO, opus]]);
});
