import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type DvrEdge, DvrList, ENDED, type NewDvrSegment } from "./dvr-list.ts";

const START = Date.UTC(2030, 0, 1);
const INIT = "init-00000001.mp4";

function segment(msn: number, more: Partial<NewDvrSegment> = {}): NewDvrSegment {
  const programDateTimeMs = START + msn * 2_000;
  const shown = { msn, startSeconds: msn * 2, seconds: 2, programDateTimeMs };
  return { ...shown, discontinuity: false, isIndependent: true, init: INIT, ...more };
}

function filled(count: number, windowSeconds?: number, from = 0): DvrList {
  const list = new DvrList(windowSeconds);
  for (let msn = from; msn < from + count; msn++) list.add(segment(msn));
  return list;
}

const parts = (msn: number) =>
  [0, 1, 2, 3, 4, 5].map((part) => ({ uri: `${msn}.${part}.m4s`, duration: 0.33333, isIndependent: part === 0 }));

/** As of a stream with parts, whose open segment has two. */
function edge(list: DvrList, version = list.lastMsn): DvrEdge {
  const { lastMsn } = list;
  const head = (msn: number, count = 6) => ({
    ...{ programDateTimeMs: START + msn * 2_000, discontinuity: false, map: INIT },
    parts: parts(msn).slice(0, count),
  });
  return {
    targetDuration: 4,
    heads: new Map([lastMsn - 1, lastMsn].map((msn) => [msn, head(msn)])),
    open: { ...head(lastMsn + 1, 2), msn: lastMsn + 1 },
    lowLatency: {
      partTarget: 0.334,
      partHoldBack: 1.5,
      preloadHint: `${lastMsn + 1}.2.m4s`,
      renditionReports: [{ uri: "../audio/dvr.m3u8", lastMsn: lastMsn + 1, lastPart: 1 }],
    },
    version,
  };
}

const endOf = (list: DvrList): DvrEdge => ({ ...ENDED, targetDuration: 4, version: list.lastMsn });
const textOf = (list: DvrList, at: DvrEdge = edge(list), isDelta = false) =>
  gunzipSync(list.text(at, isDelta).in("gzip").bytes).toString();
const namesIn = (text: string) => text.match(/^d\d+\.m4s$/gm) ?? [];
const numberIn = (text: string) => Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(text)?.[1]);

/** A client as RFC 8216bis 6.3.7 describes it: what it has, by number. Null if it needs the whole list. */
function merged(known: ReadonlyMap<number, string>, text: string): Map<number, string> | null {
  const skipped = Number(/#EXT-X-SKIP:SKIPPED-SEGMENTS=(\d+)/.exec(text)?.[1] ?? 0);
  const first = numberIn(text);
  const list = new Map<number, string>();
  for (let number = first; number < first + skipped; number++) {
    const name = known.get(number);
    if (name === undefined) return null;
    list.set(number, name);
  }
  for (const [index, name] of namesIn(text).entries()) list.set(first + skipped + index, name);
  return list;
}

test("a session is listed from its first segment, with parts near the edge only, and the same compressed and plain", () => {
  const list = filled(2_000);
  const text = textOf(list);
  expect(text).toBe(Buffer.from(list.text(edge(list), false).in(null).bytes).toString());
  expect(namesIn(text)).toHaveLength(2_000);
  expect(numberIn(text)).toBe(0);
  expect(text.match(/#EXT-X-PART:/g)).toHaveLength(14);
  expect(text).toContain("CAN-SKIP-UNTIL=24");
  expect(text.match(/#EXT-X-MAP/g)).toHaveLength(1);
  expect(text).not.toContain("PLAYLIST-TYPE");
  expect(text).not.toContain("ENDLIST");
  expect(text.trimEnd()).toMatch(/RENDITION-REPORT:URI="\.\.\/audio\/dvr\.m3u8",LAST-MSN=2000,LAST-PART=1$/);
});

test("the time is told at the start, each minute, and at each discontinuity", () => {
  const list = filled(90);
  list.add(segment(90, { discontinuity: true }));
  const times = [...textOf(list, endOf(list)).matchAll(/PROGRAM-DATE-TIME:(\S+)/g)].map(
    ([, time = ""]) => (Date.parse(time) - START) / 2_000,
  );
  expect(times).toEqual([0, 30, 60, 90]);
  list.add(segment(91));
  list.add(segment(92, { discontinuity: true }));
  expect(textOf(list, endOf(list))).toMatch(/DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:\S+\n#EXTINF:2.00000,\nd92/);
});

test("the time is told where media goes on after a reconnect, in the list and in delta updates", () => {
  const list = filled(20);
  const later = (msn: number) => segment(msn, { programDateTimeMs: START + msn * 2_000 + 7_000 });
  list.add(later(20));
  list.add(later(21));
  for (const text of [textOf(list), textOf(list, edge(list), true)])
    expect(timesIn(text).get("d21.m4s")).toBe(START + 49_000);
  expect(textOf(list).match(/DATE-TIME\S+\n(#EXT-X-PART\S+\n)*#EXTINF/g)).toHaveLength(2);
});

test("of a window the oldest leave one at a time; the init segment in force and discontinuities that left are told", () => {
  const list = new DvrList(600);
  let before = 0;
  for (let msn = 0; msn < 2_000; msn++) {
    list.add(segment(msn, { discontinuity: msn === 100 }));
    const text = msn % 97 === 0 || (msn > 390 && msn < 410) ? textOf(list, edge(list)) : "";
    if (!text) continue;
    const first = numberIn(text);
    expect(namesIn(text)[0]).toBe(`d${first}.m4s`);
    if (msn > 391 && msn < 410) expect(first - before).toBeLessThanOrEqual(1);
    expect(text).toContain(`#EXT-X-MAP:URI="${INIT}"`);
    expect(text.includes("#EXT-X-DISCONTINUITY-SEQUENCE:1\n")).toBe(first > 100);
    before = first;
  }
  expect(list.length).toBe(300);
  // Who has just read the list may ask for what left it.
  expect(list.segment(1_500)?.msn).toBe(1_500);
  expect(list.segment(100)).toBeNull();
});

test("moments with a picture are some seconds apart, count from the first that is listed, and stay when the window moves on", () => {
  const list = filled(300, 120);
  list.add(segment(300, { isIndependent: false }));
  list.add(segment(301));
  const before = list.moments(() => 10);
  const [first] = before;
  expect([first?.seconds, first?.programDateTimeMs]).toEqual([0, list.sinceMs]);
  expect(before.map(({ msn }) => msn).slice(-3)).toEqual([290, 295, 301]);
  expect(before.at(-1)?.endSeconds).toBe(((list.lastMsn + 1) * 2_000 - ((list.sinceMs ?? 0) - START)) / 1000);
  for (let msn = 302; msn < 330; msn++) list.add(segment(msn));
  const after = list.moments(() => 10);
  const kept = before.filter(({ programDateTimeMs }) => programDateTimeMs > (list.sinceMs ?? 0) + 10_000);
  expect(after.map(({ msn }) => msn)).toEqual(expect.arrayContaining(kept.map(({ msn }) => msn)));
  expect(after[1]?.seconds).toBe(((after[1]?.programDateTimeMs ?? 0) - (list.sinceMs ?? 0)) / 1000);
});

test("a delta update has what is new, and merged it is the whole list", () => {
  const list = filled(1_500, 2_000);
  let known = merged(new Map(), textOf(list));
  for (let msn = 1_500; msn < 1_600; msn++) {
    list.add(segment(msn));
    const delta = textOf(list, edge(list), true);
    expect(delta).toMatch(/^#EXTM3U\n#EXT-X-VERSION:9\n/);
    known = known && merged(known, delta);
    const whole = textOf(list, edge(list), false);
    expect(known).toEqual(merged(new Map(), whole));
    expect(whole).not.toContain("EXT-X-SKIP");
  }
});

/** When each listed segment begins, by name, as a player computes it: from the time before it, by the durations. */
function timesIn(text: string): Map<string, number> {
  const times = new Map<string, number>();
  let at = Number.NaN;
  for (const [, time, seconds, name] of text.matchAll(/DATE-TIME:(\S+)|EXTINF:([\d.]+),\n(\S+)/g)) {
    if (time) at = Date.parse(time);
    if (!name) continue;
    times.set(name, at);
    at += Number(seconds) * 1000;
  }
  return times;
}

test.each(["scenes", "camera", "sound"])(
  "a delta update of %s segments tells the init segment in force, and times that are the same in each and never later than in the whole list",
  (kind) => {
    const { list } = twelveHours(UNEVEN[kind] as () => number, 200);
    const told = new Map<string, number>();
    for (let msn = 200; msn < 300; msn++) {
      const delta = textOf(list, edge(list), true);
      const whole = timesIn(textOf(list));
      expect(delta).toMatch(/SKIP:\S+\n#EXT-X-MAP:URI="init-00000001.mp4"\n#EXT-X-PROGRAM/);
      expect(delta.match(/EXT-X-MAP/g)).toHaveLength(1);
      expect(delta.match(/DATE-TIME:\S+\n(#EXT-X-PART:\S+\n)*#EXTINF/g)).toHaveLength(namesIn(delta).length);
      for (const [name, time] of timesIn(delta)) {
        expect(told.get(name) ?? time).toBe(time);
        told.set(name, time);
        const late = (whole.get(name) ?? 0) - time;
        // Five digits of up to 31 durations.
        expect(late).toBeGreaterThan(-0.2);
        expect(late).toBeLessThan(1.2);
      }
      const seconds = UNEVEN[kind]?.(msn) ?? 0;
      const last = list.segment(list.lastMsn);
      const programDateTimeMs = Math.round((last?.programDateTimeMs ?? 0) + (UNEVEN[kind]?.(msn - 1) ?? 0) * 1000);
      list.add(segment(msn, { seconds, programDateTimeMs }));
    }
  },
);

test("a delta update of gaps alone tells the init segment of the open segment", () => {
  const list = filled(100);
  list.fill({ msn: 140, startSeconds: 280, programDateTimeMs: START + 280_000, discontinuity: false });
  const open = { msn: 140, programDateTimeMs: START + 280_000, discontinuity: false, map: INIT, parts: parts(140) };
  const delta = textOf(list, { ...edge(list), heads: new Map(), open }, true);
  expect(delta.match(/EXT-X-MAP/g)).toHaveLength(1);
  expect(delta.indexOf("EXT-X-MAP")).toBeGreaterThan(delta.lastIndexOf("EXT-X-GAP"));
});

test("a client whose copy is too old finds that it misses segments, and gets the whole list", () => {
  const list = filled(100);
  const old = merged(new Map(), textOf(list)) ?? new Map();
  for (let msn = 100; msn < 160; msn++) list.add(segment(msn));
  expect(merged(old, textOf(list, edge(list), true))).toBeNull();
  expect(merged(new Map(), textOf(list))?.size).toBe(160);
});

test("after the end a delta update is the whole list", () => {
  const list = filled(100);
  const text = textOf(list, endOf(list), true);
  expect(text).toContain("#EXT-X-ENDLIST");
  expect(namesIn(text)).toHaveLength(100);
  expect(text).not.toContain("SKIP");
});

test("numbers that a kill left out are gaps that take the time between, without a break; a day of numbers is not", () => {
  const list = filled(50);
  // The timeline has gone 45 s further, the clock 20 s.
  list.add(segment(80, { startSeconds: 145, programDateTimeMs: START + 118_000 }));
  let text = textOf(list, endOf(list));
  expect(namesIn(text)[80]).toBe("d80.m4s");
  expect(text.match(/#EXT-X-GAP\n#EXTINF:1.50000,/g)).toHaveLength(30);
  expect(text).not.toContain("#EXT-X-DISCONTINUITY");
  expect(text).toMatch(/#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:01:58.000Z\n#EXTINF:2.00000,\nd80/);
  list.add(segment(43_300));
  text = textOf(list, endOf(list));
  expect(namesIn(text)).toHaveLength(82);
  expect(text).toMatch(/#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:\S+\n#EXTINF:2.00000,\nd43300/);
  expect(numberIn(text)).toBe(43_300 - 81);
});

test("gaps before a break take the time by the clock, so that dates and durations agree, unless the clock was set back", () => {
  const list = filled(50);
  // A crash: the timeline has gone 75 s further, the clock 51.
  const after = { startSeconds: 175, programDateTimeMs: START + 151_000, discontinuity: true };
  list.add(segment(80, after));
  const text = textOf(list, endOf(list));
  expect(text.match(/#EXT-X-GAP\n#EXTINF:1.70000,/g)).toHaveLength(30);
  expect(text).toMatch(
    /#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:02:31.000Z\n#EXTINF:2.00000,\nd80/,
  );
  const told = [...text.matchAll(/DATE-TIME:(\S+)\n(?:#EXT-X-GAP\n)?#EXTINF:\S+\n(\S+)/g)];
  expect(told.length).toBeGreaterThan(30);
  let tags = 0;
  const byDurations = timesIn(text.replaceAll(/#EXT-X-PROGRAM\S+\n/g, (tag) => (tags++ === 0 ? tag : "")));
  for (const [, time = "", name = ""] of told) expect(byDurations.get(name)).toBeCloseTo(Date.parse(time), -1);

  const setBack = filled(50);
  setBack.add(segment(80, { ...after, programDateTimeMs: START }));
  expect(textOf(setBack, endOf(setBack)).match(/#EXT-X-GAP\n#EXTINF:2.50000,/g)).toHaveLength(30);
});

/** Of a session of 12 hours: a camera whose keyframes are some milliseconds late, cuts by scene, and sound that is cut in frames of 1024. */
const UNEVEN: Record<string, (msn: number) => number> = {
  even: () => 2,
  scenes: (msn) => [2, 61 / 30, 59 / 30, 62 / 30, 58 / 30, 2.1, 2][(msn * msn * 31 + msn * 7) % 7] ?? 2,
  camera: (msn) => 1.98 + ((msn * 7919 + (msn % 13) * 577) % 40) / 1000,
  sound: (msn) =>
    ((Math.round((2 * (msn + 1) * 48_000) / 1024) - Math.round((2 * msn * 48_000) / 1024)) * 1024) / 48_000,
};

function twelveHours(
  secondsOf: (msn: number) => number,
  count = 21_600,
): { readonly list: DvrList; readonly lastMs: number } {
  const list = new DvrList();
  let seconds = 0;
  for (let msn = 0; msn < count; msn++) {
    list.add(segment(msn, { seconds: secondsOf(msn), programDateTimeMs: Math.round(START + seconds * 1000) }));
    seconds += secondsOf(msn);
  }
  return { list, lastMs: START + seconds * 1000 };
}

/** Milliseconds of this thread, which other processes do not lengthen. */
function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

test.each(Object.keys(UNEVEN))("12 hours of %s segments are at most 60 KB, and their times are right", (kind) => {
  const { list } = twelveHours(UNEVEN[kind] as () => number);
  const whole = list.text(edge(list), false).in("gzip").bytes;
  expect(whole.byteLength).toBeLessThan(60 * 1024);
  const text = gunzipSync(whole).toString();
  expect(text).toBe(Buffer.from(list.text(edge(list), false).in(null).bytes).toString());
  let shown = 0;
  let actual = 0;
  let largestError = 0;
  for (const [msn, [, seconds]] of [...text.matchAll(/#EXTINF:([\d.]+),/g)].entries()) {
    shown += Number(seconds);
    actual += UNEVEN[kind]?.(msn) ?? 0;
    largestError = Math.max(largestError, Math.abs(shown - actual));
  }
  // Five digits of 21,600 durations may be 5 µs off each.
  expect(largestError).toBeLessThan(0.01 + 0.11);
});

test("four renditions of 12 hours stop the event loop for less than 20 ms; a reload has at most 5 KB and takes 2 ms of CPU", () => {
  const lists = ["even", "scenes", "camera", "sound"].map((kind) => twelveHours(UNEVEN[kind] as () => number).list);
  let longest = 0;
  for (const list of lists) for (const render of list.unrendered()) longest = Math.max(longest, cpuMs(render));
  for (const list of lists)
    longest = Math.max(
      longest,
      cpuMs(() => void list.text(edge(list), false).in("gzip")),
    );
  expect(longest).toBeLessThan(20);
  for (const list of lists) expect([...list.unrendered()]).toEqual([]);

  let largest = 0;
  const ms = cpuMs(() => {
    for (const list of lists)
      for (let version = 0; version < 50; version++) {
        list.add(segment(21_600 + version));
        const at = edge(list, 100_000 + version);
        largest = Math.max(largest, list.text(at, true).in("gzip").bytes.byteLength);
      }
  });
  expect(largest).toBeLessThan(5 * 1024);
  expect(ms / 200).toBeLessThan(2);
});

test("a rendition that begins at a discontinuity counts it, as the lists of the others do", () => {
  const [early, late] = [filled(3), new DvrList()];
  for (const list of [early, late]) for (const msn of [3, 4]) list.add(segment(msn, { discontinuity: msn === 3 }));
  const sequenceOf = (list: DvrList): number => {
    const text = textOf(list);
    const [before] = text.split("d4.m4s");
    const first = Number(/#EXT-X-DISCONTINUITY-SEQUENCE:(\d+)/.exec(text)?.[1] ?? 0);
    return first + (before?.match(/^#EXT-X-DISCONTINUITY$/gm)?.length ?? 0);
  };
  expect([sequenceOf(early), sequenceOf(late)]).toEqual([1, 1]);
});
