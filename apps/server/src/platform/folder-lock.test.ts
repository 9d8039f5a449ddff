import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { takeLock } from "./folder-lock.ts";

const ROUNDS = 300;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-lock-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that takes the lock when it is told, at the moment it is told, and answers whether it has it. */
function startRival(path: string) {
  const code = `
    import { takeLock } from ${JSON.stringify(new URL("./folder-lock.ts", import.meta.url).href)};
    let lock = null;
    process.on("message", async (at) => {
      if (at === "release") { await lock?.release(); lock = null; return process.send("released"); }
      while (performance.timeOrigin + performance.now() < at);
      lock = await takeLock(${JSON.stringify(path)});
      process.send(lock !== null);
    });
    process.send("up");`;
  const script = join(folder, "rival.ts");
  writeFileSync(script, code);
  return fork(script, { execArgv: [] });
}

test("of two processes that try in the same millisecond, one gets it", async () => {
  const rivals = [1, 2].map(() => startRival(join(folder, "lock")));
  const answers = () => Promise.all(rivals.map(async (rival) => (await once(rival, "message"))[0] as unknown));
  const ask = (message: number | "release") => {
    const answered = answers();
    for (const rival of rivals) rival.send(message);
    return answered;
  };
  await answers();
  const holders: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    holders.push((await ask(performance.timeOrigin + performance.now() + 3)).filter((has) => has === true).length);
    await ask("release");
  }
  for (const rival of rivals) rival.kill();
  expect(holders).toEqual(Array(ROUNDS).fill(1));
}, 60_000);

test("a lock whose holder was killed is free", async () => {
  const path = join(folder, "lock");
  const rival = startRival(path);
  await once(rival, "message");
  rival.send(0);
  expect((await once(rival, "message"))[0]).toBe(true);
  expect(await takeLock(path)).toBeNull();
  rival.kill("SIGKILL");
  await once(rival, "exit");
  const lock = await takeLock(path);
  expect(lock).not.toBeNull();
  await lock?.release();
});

test("a lock has one holder, and the next one after its release", async () => {
  const path = join(folder, "lock");
  const first = await takeLock(path);
  expect(await takeLock(path)).toBeNull();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await first?.release();
  const second = await takeLock(path);
  expect(second).not.toBeNull();
  await second?.release();
});

test("a path too long for a socket is locked as well", async () => {
  const deep = join(folder, "a".repeat(120));
  mkdirSync(deep);
  const lock = await takeLock(join(deep, "lock"));
  expect(await takeLock(join(deep, "lock"))).toBeNull();
  await lock?.release();
});

test("a folder that cannot be locked is named", async () => {
  await expect(takeLock(join(folder, "none", "lock"))).rejects.toThrow(`cannot lock ${join(folder, "none", "lock")}`);
});

test("a lock that its holder does not keep is held all the same", async () => {
  const path = join(folder, "lock");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await takeLock(path);
  for (let round = 0; round < 5; round++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await takeLock(path)).toBeNull();
});
