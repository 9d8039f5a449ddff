import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import { silentLog } from "../log.ts";
import { until } from "../retry.ts";
import { makeTestFolder } from "../test-folder-rig.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";

let dataFolder: string;
const running: EmbeddedPostgres[] = [];

beforeEach(() => {
  dataFolder = makeTestFolder("postgres");
});

afterEach(async () => {
  for (const postgres of running.splice(0)) await postgres.close();
  rmSync(dataFolder, { recursive: true, force: true });
});

async function start(folder = dataFolder): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataFolder: folder, clock: systemClock, log: silentLog });
  running.push(postgres);
  return postgres;
}

async function ask<Row extends pg.QueryResultRow>(postgres: EmbeddedPostgres, text: string): Promise<Row[]> {
  const client = new pg.Client(postgres.address);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const lockFile = () => join(dataFolder, "pg", "18", "postmaster.pid");
const postmasterPid = () => Number.parseInt(readFileSync(lockFile(), "utf8"), 10);
const waitFor = (condition: () => boolean) => expect(until(systemClock, 25_000, condition)).resolves.toBe(true);

test("rows are there after a stop and another start", async () => {
  const first = await start();
  await ask(first, "create table fruit as select 'fig' as name");
  await first.close();
  expect(existsSync(lockFile())).toBe(false);
  expect(await ask(await start(), "select * from fruit")).toEqual([{ name: "fig" }]);
});

test("it syncs what it commits and listens on no network address", async () => {
  const [row] = await ask(
    await start(),
    "select current_setting('fsync') as fsync, current_setting('listen_addresses') as listen",
  );
  expect(row).toEqual({ fsync: "on", listen: "" });
});

test("a second server on the data folder is refused in one line, and the first goes on", async () => {
  const first = await start();
  await expect(start()).rejects.toThrow(
    `another Weir runs on the data folder ${dataFolder}: stop it, or set WEIR_DATA_DIR`,
  );
  expect(await ask(first, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("a server that is killed is started again and serves the same rows", async () => {
  const postgres = await start();
  await ask(postgres, "create table fruit as select 'fig' as name");
  const pid = postmasterPid();
  process.kill(pid, "SIGKILL");
  await waitFor(() => !postgres.isRunning());
  await waitFor(() => postgres.isRunning());
  expect(postmasterPid()).not.toBe(pid);
  expect(await ask(postgres, "select * from fruit")).toEqual([{ name: "fig" }]);
});

test("a process id in a left lock file that is another program's by now is left alone, and does not stop the start", async () => {
  await (await start()).close();
  const stranger = spawn("sleep", ["60"]);
  writeFileSync(lockFile(), `${stranger.pid}\n${join(dataFolder, "pg", "18")}\n1700000000\n5432\n\n\n  1 1\nready\n`);
  await start();
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  stranger.kill();
});

describe.runIf(process.platform === "linux")("killed together with its server", () => {
  test("a database that nobody has reaped does not stop the next start", async () => {
    const folder = (await start()).address.host;
    await running.pop()?.close();
    // A shell that becomes another program never waits for its child.
    const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"]);
    const pid = Number(String((await once(parent.stdout, "data"))[0]));
    await waitFor(() => statOf(parent.pid ?? 0).includes("(sleep)"));
    process.kill(pid, "SIGKILL");
    await waitFor(() => statOf(pid).includes(") Z"));
    writeFileSync(lockFile(), `${pid}\n${join(dataFolder, "pg", "18")}\n1700000000\n5432\n\n\n  1 1\nready\n`);
    writeFileSync(join(folder, ".s.PGSQL.5432.lock"), `${pid}\n${join(dataFolder, "pg", "18")}\n1700000000\n5432\n`);
    expect(await ask(await start(), "select 1 as one")).toEqual([{ one: 1 }]);
    parent.kill();
  });

  test("a backend that does not notice is ended before the next start, and another cluster's is left alone", async () => {
    const other = makeTestFolder("postgres");
    await start(other);
    const othersServer = Number.parseInt(readFileSync(join(other, "pg", "18", "postmaster.pid"), "utf8"), 10);
    const { child, said, hasEnded } = startElsewhere();
    await waitFor(() => said() !== "");
    const server = postmasterPid();
    const [backend = 0] = backendsOf(server);
    // As one that waits for the lock of a killed one: it does not notice that its server is gone.
    process.kill(backend, "SIGSTOP");
    process.kill(server, "SIGKILL");
    child.kill("SIGKILL");
    await waitFor(hasEnded);
    expect(isRunning(backend)).toBe(true);
    const others = backendsOf(othersServer);
    expect(await ask(await start(), "select 1 as one")).toEqual([{ one: 1 }]);
    expect(isRunning(backend)).toBe(false);
    expect(others.filter(isRunning)).toEqual(others);
    for (const postgres of running.splice(0)) await postgres.close();
    rmSync(other, { recursive: true });
  });

  function statOf(pid: number): string {
    try {
      return readFileSync(`/proc/${pid}/stat`, "utf8");
    } catch {
      return "";
    }
  }
  const isRunning = (pid: number): boolean => /\) [^ZX]/.test(statOf(pid));
  // The server's children include the shell that ends it when its starter dies.
  const backendsOf = (server: number): number[] =>
    readdirSync("/proc")
      .map(Number)
      .filter((pid) => /\(postgres\) \S (\d+)/.exec(statOf(pid))?.[1] === String(server));
});

test("a data folder with a path too long for a socket gets its sockets elsewhere", async () => {
  const long = join(dataFolder, "x".repeat(100));
  mkdirSync(long);
  const postgres = await start(long);
  expect(postgres.address.host.startsWith(join(tmpdir(), "weir-"))).toBe(true);
  expect(await ask(postgres, "select 1 as one")).toEqual([{ one: 1 }]);
  rmSync(postgres.address.host, { recursive: true });
});

test("data of another major version is refused by its number", async () => {
  await (await start()).close();
  writeFileSync(join(dataFolder, "pg", "18", "PG_VERSION"), "17\n");
  await expect(start()).rejects.toThrow("holds a database of PostgreSQL 17 and this Weir brings 18");
});

test("data of another major version in a folder of its own is refused too: no empty database is begun beside it", async () => {
  await (await start()).close();
  renameSync(join(dataFolder, "pg", "18"), join(dataFolder, "pg", "17"));
  await expect(start()).rejects.toThrow("17 holds a database of PostgreSQL 17 and this Weir brings 18");
  expect(existsSync(join(dataFolder, "pg", "18"))).toBe(false);
});

test("what an initdb that was cut short left does not count", async () => {
  const half = join(dataFolder, "pg", "18.unfinished");
  mkdirSync(half, { recursive: true });
  writeFileSync(join(half, "PG_VERSION"), "18\n");
  await start();
  expect(existsSync(half)).toBe(false);
});

/** Another process that opens the data folder and stays, as `uid` where given. */
function startElsewhere(uid?: number) {
  const child = spawn(
    process.execPath,
    [
      "--input-type=module-typescript",
      "--eval",
      `import { startEmbeddedPostgres } from ${JSON.stringify(new URL("./embedded-postgres.ts", import.meta.url).href)};
       import { openDataFolder } from ${JSON.stringify(new URL("../data-folder.ts", import.meta.url).href)};
       import { systemClock } from ${JSON.stringify(new URL("../clock.ts", import.meta.url).href)};
       import { silentLog } from ${JSON.stringify(new URL("../log.ts", import.meta.url).href)};
       try {
         const dataFolder = openDataFolder(process.env.FOLDER);
         const postgres = await startEmbeddedPostgres({ dataFolder, clock: systemClock, log: silentLog });
         // Before it says that it is ready: the test sends the signal as soon as it reads that.
         process.once("SIGTERM", () => postgres.close().then(() => process.exit()));
         console.log("ready");
       } catch (error) { console.log(error.message); process.exit(1); }`,
    ],
    { cwd: "/", env: { PATH: process.env.PATH, FOLDER: dataFolder }, ...(uid === undefined ? {} : { uid, gid: uid }) },
  );
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  return { child, said: () => said, hasEnded: () => child.exitCode !== null || child.signalCode !== null };
}

test("kill -9 of our process takes the database down, and the next start works", async () => {
  const { child, said, hasEnded } = startElsewhere();
  await waitFor(() => said() !== "");
  expect(said()).toBe("ready\n");
  const pid = postmasterPid();
  child.kill("SIGKILL");
  await waitFor(hasEnded);
  await start();
  expect(postmasterPid()).not.toBe(pid);
});

// What only root can arrange; an ordinary user is what every other test here runs as, then.
describe.runIf(process.getuid?.() === 0)("as root", () => {
  const NOBODY = 65_534;

  test("an ordinary user starts it in a folder of their own", async () => {
    chownSync(dataFolder, NOBODY, NOBODY);
    const { child, said, hasEnded } = startElsewhere(NOBODY);
    await waitFor(() => said() !== "");
    expect(said()).toBe("ready\n");
    child.kill("SIGTERM");
    await waitFor(hasEnded);
    expect(existsSync(lockFile())).toBe(false);
  });

  test("an ordinary user is refused root's data folder in one line", async () => {
    await (await start()).close();
    chmodSync(dataFolder, 0o777);
    chmodSync(join(dataFolder, "pg"), 0o755);
    const { said, hasEnded } = startElsewhere(NOBODY);
    await waitFor(hasEnded);
    expect(said()).toMatch(
      /^\S+ belongs to user 0 and Weir runs as user 65534 .*: start Weir as its owner, or change the owner of the data folder\n$/,
    );
  });

  test("a folder that cannot be written to is named with its owner", async () => {
    const { said, hasEnded } = startElsewhere(NOBODY);
    await waitFor(hasEnded);
    expect(said()).toBe(
      `cannot write to the data folder ${dataFolder}, which belongs to user 0, as user 65534 (EACCES): change its owner or set WEIR_DATA_DIR\n`,
    );
  });
});
