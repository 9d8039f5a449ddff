import { expect, test } from "vitest";
import { PartTarget } from "./part-target.ts";

const FRAME_RATES = [60, 30, 25, 10, 1];

function partTarget(hasLadder: boolean, frameRate: number): PartTarget {
  const target = new PartTarget();
  target.hasLadder = hasLadder;
  target.decideByFrame(1 / frameRate);
  return target;
}

test.each([
  [30, false, 0.513, 1.03],
  [30, true, 0.684, 1.5],
  [10, false, 0.684, 1.51],
  [10, true, 0.684, 1.51],
  [1, true, 1, 3.01],
])(
  "beside %f pictures a second, with a ladder: %s, parts of audio last %f s",
  (frameRate, hasLadder, audio, holdBack) => {
    const target = partTarget(hasLadder, frameRate);
    expect([target.audio.seconds, target.holdBackSeconds, target.audio.holdBackSeconds]).toEqual([
      audio,
      holdBack,
      holdBack,
    ]);
  },
);

test.each([false, true])("longer audio parts do not delay video, with a ladder: %s", (hasLadder) => {
  for (const frameRate of FRAME_RATES) {
    const target = partTarget(hasLadder, frameRate);
    const { seconds, holdBackSeconds } = target;
    const ofVideo = Math.max(hasLadder ? 1.5 : 0, 3 * (seconds ?? 0));
    expect(holdBackSeconds - ofVideo).toBeLessThan(0.03);
    // RFC 8216bis 4.4.3.8.
    expect(holdBackSeconds).toBeGreaterThanOrEqual(2 * (target.audio.seconds ?? 0));
  }
});

test("the hold-back is the same before and after the first frame", () => {
  for (const hasLadder of [false, true]) {
    const target = new PartTarget();
    target.hasLadder = hasLadder;
    const before = target.holdBackSeconds;
    target.decideByFrame(1 / 30);
    expect(target.holdBackSeconds).toBe(before);
  }
});
