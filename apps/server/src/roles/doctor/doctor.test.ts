import { execFile } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, request, type Server } from "node:http";
import { type AddressInfo, createServer, type Socket, type Server as TcpServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { openRunFolder } from "../../platform/data-folder.ts";
import { takeLock } from "../../platform/folder-lock.ts";
import { createApp } from "../../platform/http/app.ts";
import { addArrivalRoute, newDoctorPath, provenTo } from "../../platform/http/arrived-request.ts";
import { FIRST, RENEWED } from "../../platform/http/certificate.fixture.ts";
import { silentLog } from "../../platform/log.ts";
import { createTestDatabase } from "../../platform/postgres/postgres-test-database.ts";
import { startS3TestServer } from "../../platform/storage/s3-test-server.ts";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import { examine, type Finding } from "./doctor.ts";
import { examineFromOutside } from "./from-outside.ts";

const WEIR = fileURLToPath(new URL("../../../bin/weir", import.meta.url));
const isRoot = process.getuid?.() === 0;

let folder: string;
const open: (Server | TcpServer)[] = [];

beforeEach(() => {
  folder = makeTestFolder("doctor");
});

afterEach(() => {
  for (const server of open.splice(0)) server.close();
  rmSync(folder, { recursive: true });
});

/** A healthy machine's settings, on ports of their own. */
async function settings(more: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  return {
    WEIR_DATA_DIR: folder,
    WEIR_HOST: "127.0.0.1",
    WEIR_METRICS_PORT: "off",
    WEIR_STUN_PORT: "off",
    WEIR_SRT_PORT: "off",
    WEIR_RTMPS_PORT: "off",
    WEIR_HTTP_PORT: String(await freePort()),
    WEIR_RTMP_PORT: "0",
    WEIR_WEBRTC_PORT: "0",
    ...more,
  };
}

async function listening<Kind extends Server | TcpServer>(server: Kind): Promise<number> {
  open.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The sentences about what is wrong. */
const wrongIn = (findings: readonly Finding[]): string[] =>
  findings.filter(({ state }) => state === "problem").map(({ sentence }) => sentence);

const complaints = async (env: Record<string, string>, clock: Clock = systemClock) =>
  wrongIn(await examine(env, clock));

/** The command, in namespaces of its own that `prepare` spoils. */
async function spoiled(namespaces: string, prepare: string, env: Record<string, string>): Promise<Finding[]> {
  const program = `set -e; ${prepare}; exec "$0" doctor --json`;
  const { stdout } = await promisify(execFile)("unshare", [namespaces, "sh", "-c", program, WEIR], {
    env: { PATH: process.env.PATH, ...env },
  }).catch((error: { code: number; stdout: string; stderr: string }) => {
    if (error.code !== 1 || error.stdout === "") throw error;
    return error;
  });
  return JSON.parse(stdout) as Finding[];
}

test("nothing is wrong with a healthy machine, and a look leaves nothing behind", async () => {
  const env = await settings();
  rmSync(folder, { recursive: true });
  expect(await complaints(env)).toEqual([]);
  expect(existsSync(folder)).toBe(false);
  mkdirSync(folder);
});

test("fault 1: a port is taken", async () => {
  const port = await listening(createServer());
  const found = await complaints(await settings({ WEIR_RTMP_PORT: String(port) }));
  expect(found).toEqual([`RTMP port ${port} on 127.0.0.1 is in use by another program: end it or set WEIR_RTMP_PORT`]);
});

test.runIf(isRoot)("fault 2: UDP is blocked", async () => {
  const block =
    "ip link set lo up; ip rule add pref 5 ipproto udp prohibit; ip rule add pref 10 lookup local; ip rule del pref 0";
  const found = wrongIn(await spoiled("-n", block, await settings({ WEIR_WEBRTC_PORT: "8189" })));
  expect(found).toEqual(["UDP is blocked on this machine, so WebRTC fails: allow UDP port 8189 in its firewall"]);
});

test("fault 3: the advertised address leads elsewhere, or nowhere", async () => {
  const other = await listening(createHttpServer((_, res) => res.end("another server")));
  const elsewhere = await complaints(await settings({ WEIR_PUBLIC_URL: `http://127.0.0.1:${other}` }));
  expect(elsewhere).toEqual([
    `WEIR_PUBLIC_URL is http://127.0.0.1:${other}, and another server answers there: correct it, its DNS record, or the proxy that it leads to`,
  ]);
  const nowhere = await complaints(await settings({ WEIR_PUBLIC_URL: `http://127.0.0.1:${await freePort()}` }));
  expect(nowhere).toEqual([expect.stringContaining("nothing usable answers there (ECONNREFUSED)")]);
  const env = await settings();
  expect(await complaints({ ...env, WEIR_PUBLIC_URL: `http://127.0.0.1:${env.WEIR_HTTP_PORT}` })).toEqual([]);
});

test.runIf(isRoot)("fault 4: the disk is full", async () => {
  const found = wrongIn(await spoiled("-m", `mount -t tmpfs -o size=100m none ${folder}`, await settings()));
  expect(found).toEqual([
    `no space for the data folder ${folder}: 100 MB free, 256 MB needed; make room or set WEIR_DATA_DIR`,
  ]);
});

test("fault 5: the key of the S3 store is wrong", async () => {
  const s3 = await startS3TestServer();
  try {
    const env = await settings(s3.env);
    expect(await complaints(env)).toEqual([]);
    const found = await complaints({ ...env, WEIR_S3_ACCESS_KEY_ID: "another-key" });
    expect(found).toEqual([
      expect.stringMatching(/cannot hold recordings: .* answered 403 InvalidAccessKeyId; check WEIR_S3_…/),
    ]);
    expect(found.join()).not.toContain("another-key");
  } finally {
    await s3.close();
  }
});

test("fault 6: the clock is 60 s off", async () => {
  const database = await createTestDatabase();
  try {
    const { host, user, database: name } = database.address;
    const env = await settings({ DATABASE_URL: `postgresql://${user}@localhost/${name}?host=${host}` });
    expect(await complaints(env)).toEqual([]);
    const fast = { ...systemClock, now: () => Date.now() + 60_000 };
    expect(await complaints(env, fast)).toEqual([
      "this machine's clock is 60 s ahead of that of the database: turn on time synchronisation on both (timedatectl set-ntp true)",
    ]);
  } finally {
    await database.drop();
  }
});

test("fault 7: the database is too old, or away", async () => {
  const port = await listening(createServer(answerAsPostgres13));
  const env = await settings({ DATABASE_URL: `postgresql://weir:secret@127.0.0.1:${port}/weir` });
  expect(await complaints(env)).toEqual([
    `PostgreSQL 13.4 at 127.0.0.1:${port} is too old: Weir needs 15 or newer; upgrade it, or use the embedded one`,
  ]);
  const away = await freePort();
  expect(await complaints({ ...env, DATABASE_URL: `postgresql://weir:secret@127.0.0.1:${away}/weir` })).toEqual([
    `the database at 127.0.0.1:${away} cannot be used (ECONNREFUSED): start it, or correct DATABASE_URL`,
  ]);
});

/** What PostgreSQL says to a client that it lets in (protocol 3.0, section 54.7): R, S and Z. */
function answerAsPostgres13(socket: Socket): void {
  socket.on("error", () => {});
  socket.once("data", () => {
    const version = Buffer.from(["server_version", "13.4", ""].join("\0"));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(4 + version.length);
    socket.write(
      Buffer.concat([
        Buffer.from("R\0\0\0\x08\0\0\0\0"),
        Buffer.from("S"),
        length,
        version,
        Buffer.from("Z\0\0\0\x05I"),
      ]),
    );
  });
}

test("fault 8: the certificate has expired, or does not fit", async () => {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, FIRST.cert);
  writeFileSync(key, FIRST.key);
  const env = await settings({ WEIR_TLS_CERT: cert, WEIR_TLS_KEY: key, WEIR_HTTPS_PORT: "0" });
  expect(await complaints(env)).toEqual([]);
  const later = { ...systemClock, now: () => Date.UTC(2130, 0) };
  expect(await complaints(env, later)).toEqual([
    `the certificate in ${cert} expired on 2126-10-29: renew it; a running server loads the new one within 10 s`,
  ]);
  writeFileSync(key, RENEWED.key);
  expect(await complaints(env)).toEqual([expect.stringContaining("is not that of the certificate")]);
});

test.runIf(!existsSync("/dev/nvidia0"))("fault 9: the encoder is missing", async () => {
  expect(await complaints(await settings({ WEIR_ENCODER: "nvenc" }))).toEqual([
    "WEIR_ENCODER is nvenc, and no such encoder works on this machine: install its driver, let this user open its device, or set WEIR_ENCODER=x264",
  ]);
});

test.runIf(isRoot)("fault 10: libsrt is missing, which is a warning", async () => {
  const hide = `for lib in $(ldconfig -p | sed -n 's/.*libsrt.* => //p'); do mount --bind /dev/null "$(readlink -f "$lib")"; done`;
  const found = (await spoiled("-m", hide, await settings())).filter(({ about }) => about === "libsrt");
  expect(found).toEqual([
    {
      about: "libsrt",
      state: "warning",
      sentence:
        "libsrt is not installed, so SRT does not work: install it (Debian: apt install libsrt1.5-gnutls) if you need SRT",
    },
  ]);
});

test.runIf(isRoot)("fault 11: the data folder belongs to another user", async () => {
  chownSync(folder, 65_534, 65_534);
  expect(await complaints(await settings())).toEqual([
    `${folder} belongs to user 65534, and you are root: run Weir as its owner (sudo -u '#65534'), or change the owner (chown -R)`,
  ]);
});

/** A proxy in front of the HTTP port of `env`, at its public address, that adds these headers. */
async function behindProxy(env: Record<string, string>, adds: Record<string, string>): Promise<Record<string, string>> {
  const proxy = createHttpServer((req, res) => {
    const host = `127.0.0.1:${env.WEIR_HTTP_PORT}`;
    const forwarded = { "x-forwarded-host": req.headers.host };
    const headers = { ...req.headers, host, ...("x-forwarded-for" in adds && forwarded), ...adds };
    const asked = request({ host: "127.0.0.1", port: env.WEIR_HTTP_PORT, path: req.url, headers, agent: false });
    asked.on("response", (answer) => answer.pipe(res.writeHead(answer.statusCode ?? 502)));
    asked.on("error", () => res.destroy()).end();
  });
  return { ...env, WEIR_PUBLIC_URL: `http://127.0.0.1:${await listening(proxy)}` };
}

const NAMES_VIEWERS = { "x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "http" };

async function checkFault12(env: Record<string, string>): Promise<void> {
  expect(await complaints(await behindProxy(env, {}))).toEqual([
    "the proxy at 127.0.0.1 does not send X-Forwarded-For and X-Forwarded-Proto and X-Forwarded-Host with the viewer's values: add it to its configuration (docs/4-operate/README.md, Behind a proxy)",
  ]);
  const named = await behindProxy(env, NAMES_VIEWERS);
  const found = await examine(named, systemClock);
  expect(wrongIn(found)).toEqual([]);
  expect(found.find(({ about }) => about === "proxy")).toMatchObject({ state: "ok" });
  expect(await complaints({ ...named, WEIR_TRUSTED_PROXIES: "192.0.2.1" })).toEqual([
    expect.stringContaining("set WEIR_TRUSTED_PROXIES to include it"),
  ]);
}

test("fault 12: the proxy names no viewers, or is not trusted", async () => {
  await checkFault12(await settings({ WEIR_TRUSTED_PROXIES: "127.0.0.1" }));
});

test("fault 12 of a running server, which tells nobody else how requests arrive", async () => {
  const env = await settings({
    WEIR_TRUSTED_PROXIES: "127.0.0.1",
    WEIR_RTMP_PORT: String(await listening(createServer())),
  });
  const lock = await takeLock(join(folder, "weir.lock"));
  const newApp = () => createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "" });
  const app = newApp();
  const runFolder = openRunFolder(folder);
  addArrivalRoute(app, runFolder, systemClock);
  await app.listen({ host: "127.0.0.1", port: Number(env.WEIR_HTTP_PORT) });
  try {
    await checkFault12(env);
    expect(readdirSync(runFolder)).toEqual([]);
    const path = newDoctorPath();
    expect((await app.inject(path)).statusCode).toBe(404);
    expect((await app.inject("/.weir-doctor/..%2F..%2Fweir.lock")).statusCode).toBe(404);
    expect(await provenTo(runFolder, path, async () => (await app.inject(path)).statusCode)).toBe(200);
    const later = { ...systemClock, now: () => Date.now() + 120_000 };
    const old = newApp();
    addArrivalRoute(old, runFolder, later);
    expect(await provenTo(runFolder, path, async () => (await old.inject(path)).statusCode)).toBe(404);
  } finally {
    await app.close();
    await lock?.release();
  }
});

test("a TURN server that does not answer is named, and its secret is not", async () => {
  const urls = `turn:127.0.0.1:${await freePort()}?transport=tcp`;
  const found = await complaints(await settings({ WEIR_TURN_URLS: urls, WEIR_TURN_SECRET: "secret-of-coturn" }));
  expect(found).toEqual([`${urls} does not answer (ECONNREFUSED): start it, open its port, or correct WEIR_TURN_URLS`]);
  const alone = await complaints(await settings({ WEIR_TURN_SECRET: "secret-of-coturn" }));
  expect(alone).toEqual(["WEIR_TURN_URLS and WEIR_TURN_SECRET go together: set both, or none"]);
});

test("settings that contradict each other are named before a start", async () => {
  const contradictions = { WEIR_TLS_CERT: "/cert.pem", WEIR_S3_REDIRECTS: "1", WEIR_ROLES: "api", WEIR_HTPP_PORT: "1" };
  const findings = (await examine(await settings(contradictions), systemClock)).filter(
    ({ about }) => about === "settings",
  );
  expect(findings.map(({ sentence }) => sentence)).toEqual([
    expect.stringContaining("did you mean WEIR_HTTP_PORT?"),
    expect.stringContaining("set both, or none"),
    expect.stringContaining("WEIR_S3_REDIRECTS"),
    expect.stringContaining("DATABASE_URL"),
  ]);
  expect(await complaints(await settings({ WEIR_HTTP_PORT: "many" }))).toEqual([
    'WEIR_HTTP_PORT is "many": give a whole number from 0 to 65535',
  ]);
});

test("ports that do not answer are named from outside", async () => {
  const web = await listening(createHttpServer((_, res) => res.end("ok")));
  const notRtmp = await listening(createServer((socket) => void socket.end("SSH-2.0-other\r\n")));
  const findings = await examineFromOutside(`http://127.0.0.1:${web}`, { rtmp: notRtmp, stun: await freePort() });
  expect(findings.map(({ about, state }) => `${about} ${state}`)).toEqual([
    "HTTP ok",
    "RTMP problem",
    "UDP problem",
    "WebRTC not-checked",
  ]);
  expect(wrongIn(findings)[0]).toContain("another program answers");
});
