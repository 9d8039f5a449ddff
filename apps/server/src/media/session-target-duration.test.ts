import { expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import { openMediaMemory } from "./memory-pool.ts";
import { openTimeline } from "./session-timeline.ts";
import { type Arrival, AUDIO, type SourceShape, syntheticSource, VIDEO } from "./testing/synthetic-source.ts";
import { play } from "./testing/timeline-rig.ts";

const TARGET = 2;

function open(hasSlate = false) {
  const clock = new ManualClock(Date.UTC(2030, 0, 1));
  const { timeline, outputs } = openTimeline({
    ...{ clock, memory: openMediaMemory().parts, resume: null, lastTargetDuration: null, lastSound: null },
    ...{ hasSlate, onSegment: () => {}, onUnstable: () => {}, ladder: null },
  });
  const send = (shape: SourceShape, isSent: (arrival: Arrival) => boolean): void => {
    timeline.track(VIDEO);
    if (shape.audio !== false) timeline.track(AUDIO);
    play(
      clock,
      syntheticSource(shape).filter(isSent),
      ({ packet }) => timeline.packet(packet),
      () => timeline.tick(),
    );
  };
  const wait = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50);
      timeline.tick();
    }
  };
  /** Durations as each playlist shows them. */
  const shown = () =>
    outputs.renditions.map(({ name }) =>
      [...(outputs.playlist(name)?.text() ?? "").matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds)),
    );
  return { timeline, outputs, send, wait, shown };
}

const isSound = ({ packet }: Arrival): boolean => packet.kind === "audio";

/** RFC 8216bis 4.4.3.1. */
const expectToFit = (lists: readonly (readonly number[])[]): void => {
  expect(lists.length).toBe(2);
  for (const durations of lists) {
    expect(durations.length).toBeGreaterThan(2);
    expect(Math.max(...durations.map(Math.round))).toBeLessThanOrEqual(TARGET);
  }
};

test("no segment rounds to more than the target duration where the pictures pause for 3.5 s and the sound goes on", () => {
  const { send, shown, outputs } = open();
  send({ seconds: 12 }, (arrival) => isSound(arrival) || arrival.at < 3500 || arrival.at > 7000);
  expectToFit(shown());
  const [video, audio] = outputs.renditions.map(({ listed }) => listed.map(({ msn }) => msn));
  expect(video).toEqual(audio);
  const audioSegments = outputs.renditions[1]?.listed ?? [];
  for (const [nth, { startTicks, durationTicks }] of audioSegments.entries())
    expect(audioSegments[nth + 1]?.startTicks ?? startTicks + durationTicks).toBe(startTicks + durationTicks);
});

test("nor where the source is lost while only its sound comes", () => {
  const { timeline, send, shown } = open();
  send({ seconds: 7.7 }, (arrival) => isSound(arrival) || arrival.at < 3800);
  timeline.pause();
  expectToFit(shown());
});

test("and viewers are then shown the slate all the same", () => {
  const { timeline, outputs, send, wait } = open(true);
  send({ seconds: 7.7 }, (arrival) => isSound(arrival) || arrival.at < 3800);
  timeline.pause();
  wait(3_000);
  expect(outputs.renditions.map(({ listed }) => listed.some(({ isSlate, init }) => isSlate && init !== null))).toEqual([
    true,
    true,
  ]);
});

test("nor where one picture is shown for 0.9 s at the end of its segment", () => {
  const { send, shown } = open();
  send({ seconds: 12, gopSeconds: 10 }, (arrival) => isSound(arrival) || arrival.at < 4600 || arrival.at > 5500);
  expectToFit(shown());
});
