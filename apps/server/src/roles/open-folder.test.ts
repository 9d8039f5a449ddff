import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTestFolder } from "../platform/test-folder-rig.ts";
import { openWholeFolder } from "./open-folder.ts";

test("the first process takes over the chapters and uploads of processes that are started no more, and of no others", async () => {
  const dataDir = makeTestFolder("open-folder");
  onTestFinished(() => rm(dataDir, { recursive: true }));
  for (const number of [2, 3]) {
    const chapter = join(dataDir, "processes", String(number), "spool", `chapter of ${number}`);
    mkdirSync(chapter, { recursive: true });
    writeFileSync(join(chapter, "journal.jsonl"), "a fact");
    const uploads = join(dataDir, "processes", String(number), "uploads");
    mkdirSync(uploads);
    writeFileSync(join(uploads, `film-${number}.bytes`), "a film");
  }
  await using opened = new AsyncDisposableStack();
  await openWholeFolder({ dataDir, mediaProcesses: 2 }, opened);
  expect(readdirSync(join(dataDir, "spool"))).toEqual(["chapter of 3"]);
  expect(readdirSync(join(dataDir, "uploads"))).toEqual(["film-3.bytes"]);
  expect(readdirSync(join(dataDir, "processes/2/spool"))).toEqual(["chapter of 2"]);
  expect(readdirSync(join(dataDir, "processes/2/uploads"))).toEqual(["film-2.bytes"]);
});

test("nothing else of a process that is started no more stays on the disk", async () => {
  const dataDir = makeTestFolder("open-folder");
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const left = ["processes/3/dvr/session-1", "processes/3/clips/clip-1", "processes/3/sources", "objects/unfinished-3"];
  for (const path of left) {
    mkdirSync(join(dataDir, path), { recursive: true });
    writeFileSync(join(dataDir, path, "bytes"), "megabytes");
  }
  await using opened = new AsyncDisposableStack();
  await openWholeFolder({ dataDir, mediaProcesses: 2 }, opened);
  expect(left.filter((path) => existsSync(join(dataDir, path)))).toEqual([]);
});
