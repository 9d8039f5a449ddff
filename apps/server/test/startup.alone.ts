import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, existsSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WeirClient } from "@weir/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../src/platform/clock.ts";
import { until } from "../src/platform/retry.ts";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { fillDataFolder } from "./support/weir-process.ts";
import { PRESET_API_KEY } from "./support/weir-server.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

let dataFolder: string;
const started: Run[] = [];

beforeEach(() => {
  dataFolder = makeTestFolder("startup");
});

afterEach(async () => {
  for (const run of started.splice(0)) {
    if (run.hasEnded()) continue;
    run.child.kill("SIGTERM");
    await until(systemClock, 12_000, run.hasEnded);
  }
  rmSync(dataFolder, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly hasEnded: () => boolean;
}

/** Runs what `npm start` runs, or `command`, with free ports on loopback. */
function start(env: Record<string, string> = {}, uid?: number, command = [process.execPath, MAIN]): Run {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: ROOT,
    detached: true,
    env: {
      PATH: process.env.PATH,
      WEIR_DATA_DIR: dataFolder,
      WEIR_HOST: "127.0.0.1",
      WEIR_HTTP_PORT: "0",
      WEIR_METRICS_PORT: "off",
      WEIR_SRT_PORT: "off",
      WEIR_STUN_PORT: "off",
      WEIR_WEBRTC_PORT: "0",
      WEIR_RTMP_PORT: "0",
      ...env,
    },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const run = {
    child,
    out: () => out,
    err: () => err,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
  };
  started.push(run);
  return run;
}

async function ready(run: Run): Promise<{ url: string; rtmpUrl: string; apiKey: string | undefined }> {
  await until(systemClock, 30_000, () => run.out().includes("Next: ") || run.hasEnded());
  const found = (pattern: RegExp) => pattern.exec(run.out())?.[1];
  const url = found(/Dashboard +(\S+)/);
  if (!url) throw new Error(`it did not start: ${run.err()}`);
  return { url, rtmpUrl: found(/RTMP +(\S+)/) ?? "", apiKey: found(/API key +(\S+)/) };
}

/** The streams that a key lists: none in these tests. */
async function streamsWith(baseUrl: string, apiKey: string | undefined): Promise<unknown> {
  return (await new WeirClient({ baseUrl, apiKey: apiKey ?? "", maxRetries: 0 }).streams.list()).items;
}

async function ended(run: Run): Promise<number | null> {
  expect(await until(systemClock, 30_000, run.hasEnded)).toBe(true);
  return run.child.exitCode;
}

test("the first start prints URLs and a working key, the second one only the URLs", async () => {
  const first = start();
  const { url, rtmpUrl, apiKey } = await ready(first);
  expect(rtmpUrl).toMatch(/^rtmp:\/\/localhost:\d+\/live\/<stream$/);
  expect(await streamsWith(url, apiKey)).toEqual([]);
  await expect(streamsWith(url, "wrong")).rejects.toMatchObject({ status: 401 });
  expect(first.err()).not.toContain(apiKey);
  first.child.kill("SIGTERM");
  expect(await ended(first)).toBe(0);

  const second = await ready(start());
  expect(second.apiKey).toBeUndefined();
  expect(await streamsWith(second.url, apiKey)).toEqual([]);
});

test("a preset key works and is not printed", async () => {
  const key = "preset-key-of-this-test";
  const run = start({ WEIR_API_KEY: key });
  const { url } = await ready(run);
  expect(await streamsWith(url, key)).toEqual([]);
  expect(run.out() + run.err()).not.toContain(key);
});

test("it is ready and reports each component as healthy; after kill -9 the next start works at once", async () => {
  await fillDataFolder(dataFolder);
  const first = start();
  const { url } = await ready(first);
  const response = await fetch(`${url}/readyz`);
  expect([response.status, await response.json()]).toEqual([
    200,
    { isReady: true, checks: { disk: "ok", postgres: "ok", database: "ok", account: "ok" } },
  ]);
  first.child.kill("SIGKILL");
  await ended(first);
  const again = await ready(start());
  expect(await streamsWith(again.url, PRESET_API_KEY)).toEqual([]);
});

test("a second signal exits immediately, and the next start works", async () => {
  await fillDataFolder(dataFolder);
  const first = start();
  await ready(first);
  // A database that stands still holds up the way out.
  const database = Number(readFileSync(join(dataFolder, "pg", "18", "postmaster.pid"), "utf8").split("\n")[0]);
  process.kill(database, "SIGSTOP");
  try {
    first.child.kill("SIGTERM");
    const repeat = systemClock.every(100, () => first.child.kill("SIGINT"));
    expect(await ended(first)).toBe(1);
    repeat.cancel();
  } finally {
    process.kill(database, "SIGCONT");
  }
  await ready(start());
});

test.each(["npm alone", "every process"])("a signal to %s of `npm start` ends the server cleanly", async (to) => {
  await fillDataFolder(dataFolder);
  const run = start({}, undefined, ["npm", "start"]);
  await ready(run);
  const { pid = 0 } = run.child;
  process.kill(to === "npm alone" ? pid : -pid, "SIGINT");
  expect(await ended(run)).toBe(0);
  expect(run.err()).toMatch(/stopping: .*stopped/s);
  await ready(start());
});

test("the options of the command line are answered, also through npm; wrong ones exit with 2, and nothing is created", async () => {
  rmSync(dataFolder, { recursive: true });
  const said = async (...args: string[]) => {
    const run = start({}, undefined, args);
    return [await ended(run), run.out(), run.err()];
  };
  const node = [process.execPath, MAIN];
  expect(await said(...node, "--help")).toEqual([0, expect.stringContaining("WEIR_HTTP_PORT"), ""]);
  expect(await said(...node, "--version")).toEqual([0, expect.stringMatching(/^weir \d/), ""]);
  expect(await said("npm", "start", "--", "--help")).toEqual([0, expect.stringContaining("WEIR_HTTP_PORT"), ""]);
  expect(await said(...node, "--port", "9")).toEqual([
    2,
    "",
    expect.stringMatching(/^weir: unknown option --port.*\n$/),
  ]);
  expect(await said("npm", "start", "--", "--port", "9")).toEqual([
    2,
    expect.anything(),
    expect.stringMatching(/^weir: unknown/),
  ]);
  expect(existsSync(dataFolder)).toBe(false);
});

test.each([
  ["takes the data folder", () => existsSync(join(dataFolder, "weir.lock"))],
  ["starts the database", () => existsSync(join(dataFolder, "pg", "18", "postmaster.pid"))],
  ["is ready", (run: Run) => run.out().includes("Next: ")],
])(
  "a signal in the moment in which it %s stops it with exit code 0, and without an error in the log",
  async (_moment, hasCome) => {
    await fillDataFolder(dataFolder);
    rmSync(join(dataFolder, "weir.lock"), { force: true });
    const run = start();
    expect(await until(systemClock, 30_000, () => hasCome(run))).toBe(true);
    run.child.kill("SIGINT");
    expect(await ended(run)).toBe(0);
    const lines = run
      .err()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { level: string; msg: string });
    expect(lines.filter(({ level }) => level !== "info")).toEqual([]);
    expect(lines.at(-1)?.msg).toBe("stopped");
  },
);

test("a metrics port in use is a warning in the banner", async () => {
  await fillDataFolder(dataFolder);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  const run = start({ WEIR_METRICS_PORT: String(port) });
  await ready(run);
  taken.close();
  expect(run.out()).toContain(
    `Warning    no metrics: metrics port ${port} on 127.0.0.1 is in use by another program: end it or set WEIR_METRICS_PORT`,
  );
});

describe("a failed start prints one line and exits with code 1", () => {
  const refusal = async (run: Run) => {
    const code = await ended(run);
    return [code, run.out(), run.err()];
  };

  test("a setting that is not allowed", async () => {
    expect(await refusal(start({ WEIR_HTTP_PORT: "x" }))).toEqual([
      1,
      "",
      'weir: WEIR_HTTP_PORT is "x": give a whole number from 0 to 65535\n',
    ]);
  });

  test("a second server on the data folder", async () => {
    await fillDataFolder(dataFolder);
    const first = start();
    await ready(first);
    expect(await refusal(start())).toEqual([
      1,
      "",
      `weir: another Weir runs on the data folder ${dataFolder}: stop it, or set WEIR_DATA_DIR to another folder\n`,
    ]);
    expect(first.hasEnded()).toBe(false);
  });

  test.each([
    ["HTTP", "WEIR_HTTP_PORT"],
    ["RTMP", "WEIR_RTMP_PORT"],
  ])("an %s port in use", async (protocol, variable) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    const [code, , err] = await refusal(start({ [variable]: String(port), WEIR_LOG_LEVEL: "error" }));
    taken.close();
    expect([code, err]).toEqual([
      1,
      `weir: ${protocol} port ${port} on 127.0.0.1 is in use by another program: end it or set ${variable}\n`,
    ]);
  });
});

test.runIf(process.getuid?.() === 0 && existsSync("/usr/bin/unshare"))(
  "a data folder on a read-only file system is refused with the remedy that helps",
  async () => {
    const mounted = `mount -t tmpfs -o ro none ${dataFolder} && exec "$@"`;
    const run = start({}, undefined, ["unshare", "-m", "sh", "-c", mounted, "sh", process.execPath, MAIN]);
    expect([await ended(run), run.out(), run.err()]).toEqual([
      1,
      "",
      `weir: the data folder ${dataFolder} is on a read-only file system: mount it for writing or set WEIR_DATA_DIR to another folder\n`,
    ]);
  },
);

test.runIf(process.getuid?.() === 0)("an ordinary user starts and stops it", async () => {
  const NOBODY = 65_534;
  chownSync(dataFolder, NOBODY, NOBODY);
  const run = start({}, NOBODY);
  const { url } = await ready(run);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  run.child.kill("SIGTERM");
  expect(await ended(run)).toBe(0);
});
