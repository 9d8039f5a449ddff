import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AvFile } from "./support/av-file.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import { listedRenditions, listedSegments } from "./support/live-renditions.ts";
import { type FileSystem, PowerCutDisk, whyNoPowerCuts } from "./support/power-cut-disk.ts";
import { killFamily } from "./support/process-family.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";
import { fillDataFolder, WeirProcess } from "./support/weir-process.ts";

const CUTS = Number(process.env.WEIR_TEST_POWER_CUTS ?? 20);
/** Server and publisher do not come back within it, so that the recording ends with the cut. */
const WINDOW_MS = 1_000;
/** From the first complete segment to the cut. */
const [EARLIEST_MS, LATEST_MS] = [1_200, 10_000];
/** Segments that closed this long before the cut are in the recording. */
const KEPT_AFTER_MS = 1_000;
/** After a power cut PostgreSQL recovers first. */
const READY_WITHIN_MS = 120_000;
const LOOK_MS = 100;
const WRITE_MS = 50;
/** The API takes 100 requests of a key a second. */
const READ_MS = 15;

const reason = whyNoPowerCuts();
if (reason) console.log(`no power cuts: ${reason}`);

describe.skipIf(reason !== null).each(["ext4", "xfs"] as const)("on %s", (fileSystem: FileSystem) => {
  let disk: PowerCutDisk;
  let weir: WeirProcess;

  beforeAll(async () => {
    disk = await PowerCutDisk.make(fileSystem);
    await fillDataFolder(disk.folder);
    await disk.sync();
    const env = { WEIR_RECONNECT_WINDOW_MS: String(WINDOW_MS) };
    weir = await WeirProcess.start({ dataFolder: disk.folder, env, readyWithinMs: READY_WITHIN_MS });
  });

  afterAll(async () => {
    await weir[Symbol.asyncDispose]();
    await disk[Symbol.asyncDispose]();
  });

  test.each(Array.from({ length: CUTS }, (_, i) => i + 1))(
    "a power cut at a random moment, number %i: the recording plays, and no acknowledged write is lost",
    async (cut) => {
      await using broadcast = await startBroadcast(weir, { stream: { record: true, profiles: SMALL_LADDER } });
      await broadcast.untilSegments(1, 60_000);
      const writer = new Writer(weir);
      const watcher = new Watcher(broadcast);
      const wait = EARLIEST_MS + Math.random() * (LATEST_MS - EARLIEST_MS);
      await sleep(wait);

      const cutAt = performance.now();
      await disk.cutPower();
      await killFamily(weir.pid);
      await Promise.all([weir.kill(), broadcast.publisher.kill(), writer.stop(), watcher.stop()]);
      await disk.powerUp();
      await weir.restart();

      for (const { id, name } of writer.acknowledged) {
        expect((await weir.client.streams.get(id)).name).toBe(name);
        await sleep(READ_MS);
      }
      const { recordingUrl, mp4Url, recordingError } = await broadcast.recorded(60_000);
      const missing: string[] = [];
      let [sourceSeconds, segments] = [0, 0];
      const renditions = new Map((await listedRenditions(recordingUrl)).map(({ name, url }) => [name, url]));
      for (const [name, seen] of watcher.seen) {
        const url = renditions.get(name);
        const kept = url ? (await listedSegments(url)).filter(({ isGap }) => !isGap) : [];
        // A recording tells its first time alone: later ones differ from the live list's by milliseconds.
        const hasKept = (date: number, seconds: number) =>
          kept.some(({ dateMs }) => Math.abs(dateMs - date) < (seconds * 1000) / 2);
        for (const [dateMs, { at, seconds }] of seen) {
          if (cutAt - at < KEPT_AFTER_MS) continue;
          segments++;
          if (name === "source") sourceSeconds += seconds;
          if (!hasKept(dateMs, seconds))
            missing.push(`${name} ${dateMs}, seen ${Math.round(cutAt - at)} ms before the cut`);
        }
      }
      console.log(
        `${fileSystem}, cut ${cut}: after ${Math.round(wait)} ms, ${writer.acknowledged.length} writes, ${segments} segments due, ${missing.length} missing${recordingError ? `, ${recordingError}` : ""}`,
      );
      expect(missing).toEqual([]);
      for (const url of [mp4Url, recordingUrl]) {
        await using file = await AvFile.open(url);
        const pictures = Object.values(await file.decode()).reduce((sum, count) => sum + count, 0);
        expect(pictures, url).toBeGreaterThanOrEqual(Math.floor(sourceSeconds * 30));
      }
      // The disk has room for the next ones.
      await weir.client.streams.delete(broadcast.stream.id);
    },
  );
});

/** Creates streams until the server is gone. */
class Writer {
  readonly acknowledged: Stream[] = [];
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(weir: WeirProcess) {
    this.#running = this.#write(weir).catch(() => {});
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #write({ client }: WeirProcess): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      this.acknowledged.push(await client.streams.create({ name: `write ${n}`, profiles: [] }));
      await sleep(WRITE_MS);
    }
  }
}

/** Notes when each segment of a live stream is first listed, by its date, until the server is gone. */
class Watcher {
  readonly seen = new Map<string, Map<number, { readonly at: number; readonly seconds: number }>>();
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(broadcast: Broadcast) {
    this.#running = this.#watch(broadcast).catch(() => {});
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #watch({ hlsUrl }: Broadcast): Promise<void> {
    while (!this.#isOver) {
      for (const { name, url } of await listedRenditions(hlsUrl)) {
        const segments = await listedSegments(url);
        const at = performance.now();
        const seen = this.seen.get(name) ?? new Map();
        this.seen.set(name, seen);
        for (const { dateMs, seconds, isGap } of segments)
          if (!isGap && !seen.has(dateMs)) seen.set(dateMs, { at, seconds });
      }
      await sleep(LOOK_MS);
    }
  }
}
