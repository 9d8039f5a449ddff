import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { guides } from "./support/guides.ts";
import { systemdStandIn } from "./support/systemd-stand-in.ts";
import { freePort } from "./support/weir-process.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const MAX_MS = 180_000;
const run = promisify(execFile);

const blocks = guides()
  .find(({ page }) => page.endsWith("/server.md"))
  ?.notRun.map(({ script }) => script);
const [INSTALL = "", SETTINGS = "", START = "", CADDY = "", DOCTOR = "", UPGRADE = "", BACK = ""] = blocks ?? [];

let root: string;
let address: string;
let ports: { http: number; https: number; rtmp: number };
let apiKey: string;

beforeAll(async () => {
  root = makeTestFolder("server-guide");
  ports = { http: await freePort(), https: await freePort(), rtmp: await freePort() };
  address = `https://localhost:${ports.https}`;
  for (const folder of ["opt", "etc/caddy", "etc/systemd/system", "var/lib/weir", "mnt/backup"])
    mkdirSync(join(root, folder), { recursive: true });
  await makeReleases();
}, MAX_MS);

afterAll(() => {
  for (const name of ["weir.pid", "caddy.pid"])
    try {
      process.kill(Number(readFileSync(join(root, name), "utf8")));
    } catch {}
  rmSync(root, { recursive: true, maxRetries: 10, retryDelay: 500 });
});

/** The archive of this version as 0.1.0, and the same with one more migration as 0.2.0. */
async function makeReleases(): Promise<void> {
  const { stdout: archive } = await run("npm", ["run", "--silent", "release"], { cwd: REPOSITORY });
  cpSync(archive.trim(), join(root, "weir-0.1.0.tar.gz"));
  const next = join(root, "weir-0.2.0");
  mkdirSync(next);
  await run("tar", ["-xzf", archive.trim(), "-C", next, "--strip-components", "1"]);
  const migrations = join(next, "apps/server/migrations");
  const number = String(readdirSync(migrations).length + 1).padStart(4, "0");
  writeFileSync(join(migrations, `${number}-later.sql`), "create table later (id text primary key);\n");
  await run("tar", ["-czf", `${next}.tar.gz`, "-C", root, "weir-0.2.0"]);
}

/** Runs a block of the guide below the folder of the test, with its ports. */
async function follow(block: string): Promise<string> {
  const here = block
    .replace(/(?<![\w./-])\/(?=(?:opt|etc|var|mnt)\/)/g, `${root}/`)
    .replace(/^WEIR_PUBLIC_URL=.*$/m, `WEIR_PUBLIC_URL=${address}\n${settings()}`)
    .replace(
      /^video\.example\.com \{$/m,
      `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n${address} {\n\ttls internal`,
    )
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${ports.http}`);
  const path = `${systemdFolder()}:${process.env.PATH}`;
  const env = { PATH: path, HOME: root, XDG_DATA_HOME: root, XDG_CONFIG_HOME: root };
  const { stdout } = await run("bash", ["-c", `set -e\n${here}`], { cwd: root, env }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}\n${log()}`);
  });
  return stdout;
}

const log = () => (existsSync(join(root, "weir.log")) ? readFileSync(join(root, "weir.log"), "utf8") : "");

let commands: string | undefined;
function systemdFolder(): string {
  commands ??= systemdStandIn(root, REPOSITORY);
  return commands;
}

function settings(): string {
  const off = ["METRICS", "SRT", "STUN"].map((name) => `WEIR_${name}_PORT=off`);
  const authority = `NODE_EXTRA_CA_CERTS=${root}/caddy/pki/authorities/local/root.crt`;
  return [`WEIR_HTTP_PORT=${ports.http}`, `WEIR_RTMP_PORT=${ports.rtmp}`, "WEIR_WEBRTC_PORT=0", authority, ...off].join(
    "\n",
  );
}

/** A request over TLS through Caddy; status 0 while nothing answers. */
function ask(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const ca = readFileSync(join(root, "caddy/pki/authorities/local/root.crt"));
  const headers = { "content-type": "application/json", authorization: `Bearer ${apiKey}` };
  return new Promise((resolve) => {
    const sent = request(new URL(path, address), { method, headers, ca, agent: false }, (response) => {
      json(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, body }),
        () => resolve({ status: 0, body: null }),
      );
    });
    sent.on("error", () => resolve({ status: 0, body: null }));
    sent.end(body && JSON.stringify(body));
  });
}

const namesOfStreams = async () =>
  ((await ask("GET", "/api/stream")).body as { name: string }[]).map(({ name }) => name);
const ready = () => expect.poll(async () => (await ask("GET", "/readyz")).status, { timeout: 40_000 }).toBe(200);

test("a service is installed, has TLS by Caddy, is upgraded, and goes back to its backup", {
  timeout: MAX_MS,
  retry: 0,
}, async () => {
  await follow(INSTALL);
  await follow(SETTINGS);
  apiKey = /weir_\S+/.exec(await follow(START))?.[0] ?? "";
  await follow(CADDY);
  await expect.poll(() => existsSync(join(root, "caddy/pki/authorities/local/root.crt"))).toBe(true);
  await ready();
  const created = await ask("POST", "/api/stream", { name: "before" });
  expect(created.status).toBe(201);
  const { playbackId } = created.body as { playbackId: string };
  expect(JSON.stringify((await ask("GET", `/api/playback/${playbackId}`)).body)).toContain(`"${address}/hls/`);
  const [here = ""] = DOCTOR.split("\n");
  const found = await follow(here);
  expect(found).toMatch(/^ok +proxy: the proxy at \S+ names viewers/m);
  expect(found).not.toContain("PROBLEM");

  await follow(UPGRADE);
  await ready();
  expect(log()).toMatch(/"to":"\d+-later"/);
  expect(await namesOfStreams()).toEqual(["before"]);
  await ask("POST", "/api/stream", { name: "after" });

  await follow(BACK);
  await ready();
  expect(await namesOfStreams()).toEqual(["before"]);
  // The reason for the way by the backup.
  const again = `set -a; . /etc/weir.env; WEIR_HTTP_PORT=0 WEIR_RTMP_PORT=0 WEIR_DATA_DIR=/var/lib/weir/data /opt/weir/bin/weir start 2>&1 || true`;
  expect(await follow(again)).toMatch(/newer/);
});

test.each(["weir.service", "weir@.service"])(
  "the systemd unit %s is valid, and exposes as little as stated",
  async (name) => {
    const unit = join(root, name);
    const shipped = readFileSync(join(REPOSITORY, "deploy/systemd", name), "utf8");
    writeFileSync(unit, shipped.replaceAll("/opt/weir/", REPOSITORY).replace("User=weir", "User=daemon"));
    const verified = await run("systemd-analyze", ["verify", "--man=no", unit]);
    expect(verified.stderr).toBe("");
    // In tenths. The rest is what decoders' own namespaces need.
    await run("systemd-analyze", ["security", "--offline=true", "--threshold=50", unit]);
  },
);

test("the alerts for Prometheus are YAML, each with an expression, what is wrong, and a remedy (needs python3-yaml)", async () => {
  const file = join(REPOSITORY, "deploy/prometheus/weir-alerts.yml");
  const read = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
  const { stdout } = await run("/usr/bin/python3", ["-c", read, file]);
  const { groups } = JSON.parse(stdout) as { groups: { rules: object[] }[] };
  const alert = { alert: expect.stringMatching(/^Weir/), expr: expect.any(String) };
  const annotations = { summary: expect.any(String), remedy: expect.any(String) };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const rule of rules) expect(rule).toMatchObject({ ...alert, annotations });
});
