import { mkdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { initOfTrack } from "../packaging/init-of-track.ts";
import { until } from "../testing/media-rig.ts";
import { RecordingRig } from "../testing/recording-rig.ts";
import { VIDEO } from "../testing/synthetic-source.ts";

let rig: RecordingRig;

beforeEach(async () => {
  rig = await RecordingRig.open();
});

afterEach(() => rig[Symbol.asyncDispose]());

const both = (...msns: number[]) => ["audio", "source"].flatMap((name) => msns.map((msn) => `${name}/${msn}`)).sort();
const reasons = () => rig.facts.of("recording-failed").map(({ reason }) => reason);

async function chapter(): Promise<string> {
  const [name = "none"] = await rig.left();
  return join(rig.spool, name);
}

/** Reports the facts that had not reached the database when the process died. */
function forgetFacts(): void {
  rig.facts.facts.length = 0;
}

async function recovered(): Promise<string[]> {
  await rig.sealed();
  expect(await rig.left()).toEqual([]);
  return rig.whole();
}

test("after a kill -9 every segment is reported again and sealed", async () => {
  await rig.record(5);
  forgetFacts();
  await rig.restart();
  expect(await recovered()).toEqual(both(1, 2, 3, 4, 5));
  expect(reasons()).toEqual([]);
});

test("rungs have separate chapters, which are reported again and sealed next to the source", async () => {
  for (let n = 0; n < 3; n++) {
    await rig.record(1);
    await rig.recordRung();
  }
  expect(await rig.left()).toHaveLength(2);
  forgetFacts();
  await rig.restart();
  expect(await recovered()).toEqual([...both(1, 2, 3), "v0/1", "v0/2", "v0/3"]);
});

test("segments that a rung lost to a full disk do not fail the recording", async () => {
  await rig.record(1);
  await rig.recordRung();
  rig.freeBytes = 0;
  await rig.recordRung();
  expect(rig.facts.of("rungs-recorded")).toHaveLength(1);
  expect(reasons()).toEqual([]);
});

describe("a damaged spool keeps its intact parts", () => {
  test("zeros in a line of the journal: facts before it are reported, and facts already reported are kept", async () => {
    await rig.record(4);
    const journal = join(await chapter(), "journal.jsonl");
    const bytes = await readFile(journal);
    const third = bytes.indexOf('"nextMsn":4');
    await writeFile(journal, Buffer.concat([bytes.subarray(0, third), Buffer.alloc(50), bytes.subarray(third + 50)]));
    await rig.restart();
    expect(await recovered()).toEqual(both(1, 2, 3, 4));
    forgetFacts();
    expect(reasons()).toEqual([]);
  });

  test("zeros in an unreported line: the recording ends before it", async () => {
    await rig.record(4);
    const journal = join(await chapter(), "journal.jsonl");
    const bytes = await readFile(journal);
    bytes.fill(0, bytes.indexOf('"nextMsn":4'), bytes.indexOf('"nextMsn":4') + 50);
    await writeFile(journal, bytes);
    forgetFacts();
    await rig.restart();
    expect(await recovered()).toEqual(both(1, 2));
  });

  test("a journal of zeros only: the spans are sealed for the rows already reported", async () => {
    await rig.record(4);
    await writeFile(join(await chapter(), "journal.jsonl"), Buffer.alloc(3_000));
    await rig.restart();
    expect(await recovered()).toEqual(both(1, 2, 3, 4));
  });

  test("a missing span: the other rendition is kept, and the lost rows are reported", async () => {
    await rig.record(3);
    await rm(join(await chapter(), "audio", "1-0000000001.m4s"));
    await rig.restart();
    expect(await recovered()).toEqual(["source/1", "source/2", "source/3"]);
    expect(rig.facts.of("span-sealed").map(({ rendition, bytes }) => [rendition, bytes > 0])).toContainEqual([
      "audio",
      false,
    ]);
    expect(reasons()).toEqual([
      "part of the recording is missing: 3 segments were damaged on the disk when the server stopped",
    ]);
  });

  test("a span shorter than in the journal: rows beyond its end become gaps", async () => {
    await rig.record(3);
    forgetFacts();
    const span = join(await chapter(), "source", "1-0000000001.m4s");
    await truncate(span, (await readFile(span)).length - 1);
    await rig.restart();
    expect(await recovered()).toEqual(["audio/1", "audio/2", "audio/3", "source/1", "source/2"]);
    expect(rig.rows()).toHaveLength(5);
    expect(reasons()).toEqual([
      "part of the recording is missing: one segment was damaged on the disk when the server stopped",
    ]);
  });

  test("an empty chapter is removed, an unreadable one stays, and neither affects the others", async () => {
    await rig.record(2);
    await mkdir(join(rig.spool, "project-1.session-2.stream-1.1-0000000001"));
    await writeFile(join(rig.spool, "project-1.session-3.stream-1.1-0000000001"), "no folder");
    await rig.restart();
    await rig.sealed();
    expect(await rig.whole()).toEqual(both(1, 2));
    expect(await rig.left()).toEqual(["project-1.session-3.stream-1.1-0000000001"]);
  });
});

const DAMAGES: readonly [string, (path: string) => Promise<void>][] = [
  ["is empty", (path) => truncate(path, 0)],
  ["is cut to a third", (path) => truncate(path, 200)],
  ["has zeros in it", async (path) => writeFile(path, (await readFile(path)).fill(0, 300, 400))],
  ["is missing", (path) => rm(path)],
];

describe("an init segment in the spool", () => {
  const { name, bytes } = initOfTrack(VIDEO);
  const stored = () => readFile(join(rig.spool, "../objects/v1/project-1/rec/session-1/source", name));
  const larger = initOfTrack({
    ...{ ...VIDEO, width: 1920, height: 1080 },
    config: Buffer.from("01640028ffe1001767640028acb403c0113f2c2000007d20001d4c01e3065401000468ef0fcbfdf8f800", "hex"),
  });

  test.each(DAMAGES)("%s: the one that an earlier chapter stored stays, and no segment is lost", async (_, damage) => {
    await rig.record(1);
    await rig.finish();
    await rig.sealed();
    await rig.record(2);
    await damage(join(await chapter(), "source", name));
    await rig.restart();
    expect(await recovered()).toEqual(both(1, 2, 3));
    expect([await stored(), reasons()]).toEqual([Buffer.from(bytes), []]);
  });

  test.each(DAMAGES)("%s, and none is stored: it is written again from the journal", async (_, damage) => {
    await rig.record(2);
    await damage(join(await chapter(), "source", name));
    await rig.restart();
    expect(await recovered()).toEqual(both(1, 2));
    expect([await stored(), reasons()]).toEqual([Buffer.from(bytes), []]);
  });

  test("is damaged after the picture size changed: the journal has its track as well", async () => {
    await rig.record(2);
    rig.inits.source = larger;
    await rig.record(2);
    await truncate(join(await chapter(), "source", larger.name), 0);
    forgetFacts();
    await rig.restart();
    expect(await recovered()).toEqual(both(1, 2, 3, 4));
    expect(new Set(rig.rows().map(({ track }) => track.width))).toEqual(new Set([VIDEO.width, undefined]));
    expect(reasons()).toEqual([]);
  });

  test.each([false, true])(
    "is damaged, and the journal of an earlier version lacks its track: its segments become gaps, with a reason; an attempt before stored the span: %s",
    async (isStored) => {
      await rig.record(2);
      rig.inits.source = larger;
      await rig.record(1);
      const folder = await chapter();
      await truncate(join(folder, "source", larger.name), 0);
      const lines = (await readFile(join(folder, "journal.jsonl"), "utf8")).split("\n");
      const older = lines.filter((line) => !line.includes(`"init":"${larger.name}","track"`));
      expect(older).toHaveLength(lines.length - 1);
      await writeFile(join(folder, "journal.jsonl"), older.join("\n"));
      const span = "source/1-0000000001.m4s";
      if (isStored) await rig.store.putFile(`v1/project-1/rec/session-1/${span}`, join(folder, span));
      await rig.restart();
      // The database knows the row of the third picture; the length of its span says that it is lost.
      expect(await recovered()).toEqual([...both(1, 2), "audio/3"].sort());
      expect(reasons()).toEqual([
        "part of the recording is missing: one segment was damaged on the disk when the server stopped",
      ]);
    },
  );
});

describe("a power cut, which loses unsynced data", () => {
  /** Waits until no sync is running. */
  const synced = () => until(() => rig.faults.isSynced, "everything synced");

  test("loses no synced data", async () => {
    await rig.record(5);
    await synced();
    await rig.restart({ powerCut: true });
    expect(await recovered()).toEqual(both(1, 2, 3, 4, 5));
    expect(reasons()).toEqual([]);
  });

  test("loses the segment that was being synced, although the database knows it", async () => {
    await rig.record(4);
    await synced();
    rig.faults.stallSyncs();
    await rig.record(1);
    await rig.restart({ powerCut: true });
    expect(rig.rows()).toHaveLength(10);
    expect(await recovered()).toEqual(both(1, 2, 3, 4));
  });

  test("before the first sync leaves nothing that disturbs the next start", async () => {
    rig.faults.stallSyncs();
    await rig.record(1);
    await rig.restart({ powerCut: true });
    expect(await rig.left()).toEqual([]);
  });
});

test("a long recording is reported in awaited batches, so that the fact queue never overflows", async () => {
  await rig.record(1);
  const folder = await chapter();
  const [track1 = "", track2 = "", line = ""] = (await readFile(join(folder, "journal.jsonl"), "utf8")).split("\n");
  const lines = Array.from({ length: 25_000 }, (_, i) => line.replaceAll('"msn":1,', `"msn":${i + 1},`));
  await writeFile(join(folder, "journal.jsonl"), [track1, track2, ...lines, ""].join("\n"));
  forgetFacts();
  rig.facts.mostUnsettled = 0;
  await rig.restart();
  await until(() => rig.facts.of("segment-closed").length === 25_000, "25,000 facts", 20_000);
  expect(rig.facts.mostUnsettled).toBeLessThanOrEqual(500);
});

test("the spool of an earlier version (one folder per session, the track in each row) is sealed too", async () => {
  await rig.record(3);
  const folder = await chapter();
  const text = await readFile(join(folder, "journal.jsonl"), "utf8");
  const values = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const trackOf = (rendition: string) => values.find((value) => value.track && value.rendition === rendition).track;
  const facts = values.filter(({ recorded }) => recorded);
  for (const fact of facts) for (const row of fact.recorded) row.track = trackOf(row.rendition);
  await writeFile(join(folder, "journal.jsonl"), facts.map((fact) => `${JSON.stringify(fact)}\n`).join(""));
  await rename(folder, join(rig.spool, "project-1.session-1"));
  forgetFacts();
  await rig.restart();
  expect(await recovered()).toEqual(both(1, 2, 3));
});

test("a chapter that could not be read at the start is read when it can be, without another start", async () => {
  await rig.record(4);
  forgetFacts();
  const journal = join(await chapter(), "journal.jsonl");
  await rename(journal, `${journal}.x`);
  // As a disk that does not answer: reading it is an error (EISDIR).
  await mkdir(journal);
  await rig.restart();
  await rig.recovered();
  await rm(journal, { recursive: true });
  await rename(`${journal}.x`, journal);
  await rig.pass(120_000);
  expect(await recovered()).toEqual(both(1, 2, 3, 4));
});

test("a chapter that the disk cannot read is waited for an hour, and holds up no others", async () => {
  await rig.record(4);
  const unreadable = await chapter();
  const journal = join(unreadable, "journal.jsonl");
  await rm(journal);
  await mkdir(journal);
  await rig.restart();
  await rig.recovered();
  await rig.pass(300_000);
  const before = rig.facts.of("span-sealed").length;
  await rig.record(4);
  await rig.finish();
  const finishedAt = rig.clock.monotonic();
  await until(async () => {
    await rig.pass(500);
    return rig.facts.of("span-sealed").length > before;
  }, "another chapter in the store");
  expect(rig.clock.monotonic() - finishedAt).toBeLessThan(15_000);
  const spooled = () => rig.facts.of("recording-spooled").length;
  const within = spooled();
  await rig.pass(4_200_000);
  const after = spooled();
  await rig.pass(1_200_000);
  expect([after - within, spooled() - after]).toEqual([expect.toSatisfy((count: number) => count > 40), 0]);
});
