import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { WeirClient } from "@weir/client";
import pg from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTemporaryPostgres } from "../src/platform/postgres/temporary-postgres-rig.ts";
import { startS3TestServer } from "../src/platform/storage/s3-test-server.ts";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { commandBlocks } from "./support/command-blocks.ts";
import { figure } from "./support/nodes.ts";
import { startPublisher } from "./support/publisher.ts";
import { startWeir } from "./support/run-weir.ts";
import { WeirProcess } from "./support/weir-process.ts";

const RECORDINGS = 3;
const ASSETS = 2;
/** Of the move, each at another step. The first as soon as it copies, on any machine. */
const KILLS_AT_MS = [0, 700, 1_000, 1_300];
const BIN = fileURLToPath(new URL("../../../bin", import.meta.url));

const folder = makeTestFolder("moving");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Hash of every list and file that its playlists name, by address without the server. */
async function played(address: string, found = new Map<string, string>()): Promise<Map<string, string>> {
  const answer = await fetch(address);
  expect([address, answer.status]).toEqual([address, 200]);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const { pathname } = new URL(address);
  // A viewer's token is another one each time, and stands in lists.
  const nameOf = (path: string) => path.replace(/\/s\/[^/]+\//, "/s/-/");
  if (!pathname.endsWith(".m3u8")) {
    found.set(nameOf(pathname), createHash("sha256").update(bytes).digest("hex"));
    return found;
  }
  for (const [, line, uri] of bytes.toString().matchAll(/^(?!#)(\S+)$|URI="([^"]+)"/gm)) {
    const next = new URL(line ?? uri ?? "", address);
    if (!found.has(nameOf(next.pathname))) await played(next.href, found);
  }
  return found;
}

/** All that plays, at a server on this folder. */
async function playedAt({ client, url }: WeirProcess): Promise<Map<string, string>> {
  const here = (address = "") => address.replace(/^http:\/\/[^/]+/, url);
  const found = new Map<string, string>();
  for (const { recordingUrl, mp4Url } of (await client.sessions.list()).items)
    for (const address of [recordingUrl, mp4Url]) await played(here(address), found);
  for (const { playbackUrl } of (await client.assets.list()).items) await played(here(playbackUrl), found);
  return found;
}

async function record(weir: WeirProcess, name: string): Promise<void> {
  const { client } = weir;
  const { id, streamKey = "" } = await client.streams.create({ name, profiles: [], record: true });
  const publisher = await startPublisher({ url: weir.publishUrl(streamKey), seconds: 8, bitrateBps: 300_000 });
  expect(await publisher.ended).toBeNull();
  const status = async () => (await client.sessions.ofStream(id)).items[0]?.recordingStatus;
  await expect.poll(status, { timeout: 60_000 }).toBe("ready");
}

async function upload(client: WeirClient, name: string, file: Blob): Promise<void> {
  const profile = { name: "180p", width: 320, height: 180, bitrate: 200_000 };
  await client.createAsset({ sources: [{ name, file, profiles: [profile] }] }, { memory: null }).assets;
}

/** The commands of the page, for this folder and these targets, with systemd's `stop` done before. */
function documented(old: string, env: Readonly<Record<string, string>>): string {
  const block = commandBlocks().find(({ place, script }) => place.includes("grow.md") && script.includes("weir move"));
  if (!block) throw new Error("docs/4-operate/grow.md has no commands for weir move");
  return block.script
    .replaceAll(/\b([A-Z0-9_]+)=(\S+)/g, (_, name: string) => `${name}='${env[name]}'`)
    .replaceAll("/var/lib/weir/data", old)
    .replace("systemctl stop weir", "");
}

interface Target {
  readonly env: Readonly<Record<string, string>>;
  readonly address: pg.ClientConfig;
}

/** A PostgreSQL, a bucket, and a folder that is not there yet. */
async function newTarget(place: string): Promise<Target> {
  const s3 = await startS3TestServer();
  onTestFinished(() => s3.close());
  const postgres = await startTemporaryPostgres();
  onTestFinished(() => postgres.close());
  const { host, user, database } = postgres.address;
  const DATABASE_URL = `postgresql://${user}@localhost/${database}?host=${host}`;
  const env = { ...s3.env, DATABASE_URL, WEIR_DATA_DIR: join(mkdtempSync(join(place, "target-")), "new") };
  return { env, address: postgres.address };
}

/** A server on the target plays the same bytes, from the bucket. */
async function expectAllAt({ env, address }: Target, before: ReadonlyMap<string, string>): Promise<void> {
  const { WEIR_DATA_DIR: dataFolder = "", ...outer } = env;
  await using there = await WeirProcess.start({ dataFolder, env: outer });
  expect(readdirSync(dataFolder)).not.toContain("pg");
  expect(existsSync(join(dataFolder, "objects/v1"))).toBe(false);
  const after = await playedAt(there);
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  expect(Object.fromEntries(after)).toEqual(Object.fromEntries(before));
  expect((await there.client.webhooks.list()).items.map(({ name }) => name)).toEqual(["hook"]);
  const client = new pg.Client(address);
  await client.connect();
  expect((await client.query("select from session")).rowCount).toBe(RECORDINGS);
  await client.end();
}

test("a data folder with recordings and assets moves through kills to PostgreSQL and a bucket by the documented commands: all plays from there, same bytes", async () => {
  const place = mkdtempSync(join(folder, "try-"));
  await using weir = await WeirProcess.start({ env: { WEIR_RECONNECT_WINDOW_MS: "1000" } });
  const file = join(place, "video.flv");
  expect(await (await startPublisher({ url: file, seconds: 4, inRealTime: false })).ended).toBeNull();
  const video = new Blob([readFileSync(file)]);
  await Promise.all([
    ...Array.from({ length: RECORDINGS }, (_, n) => record(weir, `recording ${n}`)),
    ...Array.from({ length: ASSETS }, (_, n) => upload(weir.client, `asset ${n}`, video)),
  ]);
  const before = await playedAt(weir);
  expect(before.size).toBeGreaterThan(5 * (RECORDINGS + ASSETS));
  await weir.client.webhooks.create({ name: "hook", url: "https://example.com/", events: ["stream.started"] });
  writeFileSync(join(weir.dataFolder, "holiday.zip"), "of somebody else");

  const first = await newTarget(place);
  const running = startWeir(["move", weir.dataFolder], first.env);
  expect(await running.exited).toBe(1);
  expect(running.err()).toContain(`a server runs on ${weir.dataFolder}: stop it first`);
  await weir.stop();
  const { WEIR_DATA_DIR = "" } = first.env;
  const isUnfinished = () => existsSync(join(WEIR_DATA_DIR, "restoring.json"));
  let killed = 0;
  for (const ms of KILLS_AT_MS) {
    const move = startWeir(["move", weir.dataFolder], first.env);
    await expect.poll(() => isUnfinished() || move.child.exitCode !== null, { interval: 10 }).toBe(true);
    await Promise.race([sleep(ms), move.exited]);
    move.child.kill("SIGKILL");
    await move.exited;
    if (!isUnfinished()) continue;
    killed++;
    const early = startWeir(["start"], { ...first.env, WEIR_HTTP_PORT: "0" });
    expect(await early.exited).toBe(1);
    expect(early.err()).toContain("a restore into");
  }
  figure("kills of a move under way", killed);
  expect(killed).toBeGreaterThan(0);
  if (isUnfinished()) {
    const last = startWeir(["move", weir.dataFolder], first.env);
    expect([await last.exited, last.err()]).toEqual([0, ""]);
  }
  await expectAllAt(first, before);

  const second = await newTarget(place);
  const script = `set -euo pipefail\n${documented(weir.dataFolder, second.env)}`;
  const child = spawn("bash", ["--norc", "-c", script], {
    env: { PATH: `${BIN}:${process.env.PATH}` },
    // With a socket there, bash takes itself for a remote shell, and reads the user's files.
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(err).toBe("");
  expect(out).toMatch(/Moved \d+ tables, \d+ objects .*\nNot Weir's, and left in .*: holiday\.zip\n/);
  expect(out).toContain(`\nWEIR_DATA_DIR=${second.env.WEIR_DATA_DIR}\n# DATABASE_URL= `);
  expect(out).not.toContain(`=${second.env.WEIR_S3_SECRET_ACCESS_KEY}`);
  await expectAllAt(second, before);

  // The old one, as it was.
  await weir.restart();
  expect(Object.fromEntries(await playedAt(weir))).toEqual(Object.fromEntries(before));
}, 240_000);
