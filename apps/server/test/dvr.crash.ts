import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";

const CRASHES = Number(process.env.CRASHES ?? 20);
/** From the last packet known to the database: server and publisher must be back within this time, even on a busy machine. */
const WINDOW_MS = 60_000;
const LATEST_CRASH_MS = 4_000;
/** Numbers that are left out so that none is used twice, and the segment that was open. */
const MOST_MISSING = 33;
const FILE = /^(?:d\d+|\d+\.\d+)\.m4s$/gm;

const arena = openArena({ env: { WEIR_RECONNECT_WINDOW_MS: String(WINDOW_MS) } });

/** Who goes back, and remembers what each name had. */
class Rewinder {
  readonly #seen = new Map<string, string>();
  readonly #folders: readonly string[];

  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  /** Reads every list and a sample of what it names; tells the first and the last of the names that go back, by folder. */
  async look(): Promise<readonly { readonly names: readonly string[]; readonly gaps: number }[]> {
    const found = [];
    for (const folder of this.#folders) {
      const list = await fetch(`${folder}dvr.m3u8`);
      if (!list.ok) throw new Error(`${folder}dvr.m3u8 answered ${list.status}`);
      const text = await list.text();
      const gaps = new Set([...text.matchAll(/#EXT-X-GAP\n(?:#.*\n)*(d\d+\.m4s)/g)].map(([, name]) => name));
      const named = (text.match(FILE) ?? []).filter((name) => !gaps.has(name));
      await Promise.all(named.slice(-40).map((name) => this.#read(folder, name)));
      await Promise.all(named.slice(0, 20).map((name) => this.#read(folder, name)));
      found.push({ names: named.filter((name) => name.startsWith("d")), gaps: gaps.size });
    }
    return found;
  }

  async #read(folder: string, name: string): Promise<void> {
    const answer = await fetch(folder + name);
    // What has left the window of parts meanwhile.
    if (!name.startsWith("d") && answer.status === 404) return void (await answer.arrayBuffer());
    if (!answer.ok) throw new Error(`${folder}${name} answered ${answer.status}`);
    const hash = createHash("sha256")
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest("hex");
    const before = this.#seen.get(folder + name) ?? hash;
    if (before !== hash) throw new Error(`${folder}${name} had two contents`);
    this.#seen.set(folder + name, hash);
  }
}

async function foldersOf(broadcast: Broadcast): Promise<readonly string[]> {
  const url = `${broadcast.hlsUrl}?dvr=1`;
  const text = await (await fetch(url)).text();
  return [...text.matchAll(/s\/[^"\n]+\//g)].map(([path]) => new URL(path, url).href);
}

test.each([true, false])(
  "kill -9 while somebody goes back, record: %s: no name has two contents, and all but the open segment is there again",
  async (record) => {
    const stream = { record, dvr: "session" as const, profiles: [] };
    await using broadcast = await startBroadcast(arena.weir, { stream });
    await broadcast.untilSegments(3);
    const hasLists = async () => (await foldersOf(broadcast)).some((folder) => folder.includes("/source/"));
    await expect.poll(hasLists, { timeout: 15_000 }).toBe(true);
    const rewinder = new Rewinder(await foldersOf(broadcast));
    const { sessionId } = (await broadcast.now()).status;
    for (let crash = 1; crash <= CRASHES; crash++) {
      const wait = Math.random() * LATEST_CRASH_MS;
      const until = performance.now() + wait;
      let before = await rewinder.look();
      while (performance.now() < until) before = await rewinder.look();
      await arena.weir.kill();
      await broadcast.publisher.kill();
      await arena.weir.restart();
      await broadcast.publish();
      const { status } = await broadcast.untilState("live");
      expect(status.sessionId).toBe(sessionId);
      const goesOn = async () => {
        const lists = await rewinder.look();
        return lists.every(({ names }, nth) => names.at(-1) !== before[nth]?.names.at(-1)) || "no new segment";
      };
      // A failure says what the last look found.
      await expect.poll(() => goesOn().catch(String), { timeout: 30_000, interval: 250 }).toBe(true);
      for (const [nth, { names, gaps }] of (await rewinder.look()).entries()) {
        const known = before[nth];
        // The newest was closed and perhaps not on the disk yet.
        expect(names).toEqual(expect.arrayContaining(known?.names.slice(0, -1) ?? []));
        expect(gaps - (known?.gaps ?? 0)).toBeLessThanOrEqual(MOST_MISSING);
      }
      console.log(`crash ${crash}: after ${Math.round(wait)} ms`);
    }
  },
);
