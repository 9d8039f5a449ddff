import { describe, expect, it } from "vitest";
import { type Reception, ViewerQuality } from "./viewer-quality.ts";

const SOURCE = { name: "source", bitsPerSecond: 3_000_000 };
const HIGH = { name: "v0", bitsPerSecond: 1_500_000 };
const LOW = { name: "v1", bitsPerSecond: 500_000 };

/** A viewer that reports once per second, and its rungs. */
function viewer(rungs: readonly [typeof SOURCE, ...(typeof SOURCE)[]] = [SOURCE, HIGH, LOW]) {
  const quality = new ViewerQuality(SOURCE.name);
  let now = 0;
  const report = ({ fractionLost = 0, availableBps = null }: Partial<Reception>, times = 1): string => {
    for (let reports = 0; reports < times; reports++) {
      now += 1000;
      quality.judge({ fractionLost, availableBps }, rungs, now);
    }
    const { name, isKeyframesOnly } = quality.choice;
    return isKeyframesOnly ? `keyframes of ${name}` : name;
  };
  return { report, now: () => now, use: (changed: typeof rungs) => (rungs = changed) };
}

describe("a viewer's quality", () => {
  it("falls to the rung that the network carried, after two bad reports and not after one", () => {
    const { report } = viewer();
    expect([report({ fractionLost: 0.3 }), report({}), report({ fractionLost: 0.3 })]).toEqual([
      "source",
      "source",
      "v0",
    ]);
    const far = viewer();
    expect(far.report({ fractionLost: 0.6 }, 2)).toBe("v1");
  });

  it("also falls by the viewer's bitrate estimate, if that had exceeded the rung's bitrate", () => {
    const { report } = viewer();
    expect(report({ availableBps: 300_000 }, 5)).toBe("source");
    expect(report({ availableBps: 3_100_000 })).toBe("source");
    expect([report({ availableBps: 1_900_000 }), report({ availableBps: 1_800_000 })]).toEqual(["source", "v0"]);
  });

  it("does not switch to keyframes only by an estimate while packets arrive", () => {
    const { report } = viewer([SOURCE]);
    report({ availableBps: 3_100_000 });
    expect(report({ availableBps: 100_000, fractionLost: 0.05 }, 20)).toBe("source");
  });

  it("stays if less than a tenth of the packets is lost", () => {
    expect(viewer().report({ fractionLost: 0.09 }, 60)).toBe("source");
  });

  it("gets only keyframes if the network cannot carry the lowest rung, and the rung again after ten good seconds", () => {
    const { report } = viewer([SOURCE]);
    expect(report({ fractionLost: 0.15 }, 10)).toBe("source");
    expect(report({ fractionLost: 0.2 })).toBe("keyframes of source");
    expect(report({}, 9)).toBe("keyframes of source");
    expect(report({})).toBe("source");
  });

  it("rises one rung at a time, with growing delays after each failed attempt", () => {
    const { report, now } = viewer();
    report({ fractionLost: 0.7 }, 2);
    expect(report({}, 10)).toBe("v0");
    expect(report({}, 10)).toBe("source");
    const waits: number[] = [];
    for (let tries = 0; tries < 4; tries++) {
      expect(report({ fractionLost: 0.3 }, 2)).toBe("v0");
      const since = now();
      while (report({}) !== "source");
      waits.push((now() - since) / 1000);
    }
    expect(waits).toEqual([20, 40, 80, 80]);
    report({}, 20);
    report({ fractionLost: 0.3 }, 2);
    expect(report({}, 10)).toBe("source");
  });

  it("is the best rung if its rung no longer exists", () => {
    const { report, use } = viewer();
    report({ fractionLost: 0.6 }, 2);
    use([SOURCE, HIGH]);
    expect(report({})).toBe("source");
  });
});
