import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { Secret } from "../../src/platform/secret.ts";
import { S3Client, type S3Settings } from "../../src/platform/storage/s3-client.ts";
import { freePort } from "./weir-process.ts";

const BINARIES = process.env.WEIR_TEST_SWIFT ?? "/usr/bin";
const KINDS = ["account", "container", "object"] as const;
const BUCKET = "weir-test";
/** The Python that the distribution's modules are for, whatever else is in PATH. */
const PYTHON = "/usr/bin/python3";

/** One device, one replica: three rings, which would take nine Swift commands. */
const RINGS = `
import sys
from swift.common.ring import RingBuilder
folder = sys.argv[1]
for kind, port in zip(("account", "container", "object"), sys.argv[2:]):
    builder = RingBuilder(4, 1, 1)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1.0, "ip": "127.0.0.1", "port": int(port), "device": "d1",
                     "meta": "", "replication_ip": "127.0.0.1", "replication_port": int(port)})
    builder.rebalance()
    builder.get_ring().save(f"{folder}/{kind}.ring.gz")
`;

/** Null if Swift is installed, else what to install. */
export const missingSwift: string | null = existsSync(join(BINARIES, "swift-proxy-server"))
  ? null
  : `there is no ${BINARIES}/swift-proxy-server: apt-get install --no-install-recommends swift-proxy swift-account swift-container swift-object, or name the folder in WEIR_TEST_SWIFT`;

/** The distribution's OpenStack Swift with its S3 interface, on loopback: an independent store that verifies signatures. */
export class SwiftStore implements AsyncDisposable {
  readonly settings: S3Settings & { readonly endpoint: string };
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.settings = {
      ...{ bucket: BUCKET, endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", isPathStyle: true },
      ...{ accessKeyId: new Secret("test:tester"), secretAccessKey: new Secret("testing") },
    };
  }

  static async start(): Promise<SwiftStore> {
    if (missingSwift !== null) throw new Error(missingSwift);
    const folder = await mkdtemp(join(tmpdir(), "weir-swift-"));
    const ports = await Promise.all(KINDS.map(() => freePort()));
    const proxyPort = await freePort();
    const store = new SwiftStore(folder, proxyPort);
    try {
      await mkdir(join(folder, "devices/d1"), { recursive: true });
      await promisify(execFile)(PYTHON, ["-c", RINGS, folder, ...ports.map(String)]);
      for (const [index, kind] of KINDS.entries())
        await store.#run(kind, ports[index] ?? 0, store.#storageConfig(kind));
      await store.#run("proxy", proxyPort, store.#proxyConfig());
      await vi.waitUntil(() => isBucketThere(store.settings), { timeout: 60_000, interval: 250 });
    } catch (error) {
      await store[Symbol.asyncDispose]();
      throw error;
    }
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exited;
    }
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  async #run(kind: string, port: number, config: string): Promise<void> {
    const path = join(this.#folder, `${kind}.conf`);
    const general = `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${this.#folder}
devices = ${this.#folder}/devices
mount_check = false
disable_fallocate = true
fallocate_reserve = 0
log_level = ERROR
`;
    await writeFile(path, `${general}\n${config}`);
    this.#children.push(spawn(join(BINARIES, `swift-${kind}-server`), [path], { stdio: "ignore" }));
    await vi.waitUntil(() => listens(port), { timeout: 60_000, interval: 100 });
  }

  #storageConfig(kind: string): string {
    return `[pipeline:main]\npipeline = ${kind}-server\n[app:${kind}-server]\nuse = egg:swift#${kind}\n`;
  }

  #proxyConfig(): string {
    return `[pipeline:main]
pipeline = catch_errors cache s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
`;
  }
}

async function isBucketThere(settings: S3Settings): Promise<boolean> {
  const client = new S3Client(settings, systemClock);
  const made = await client.ask({ what: "write", method: "PUT", key: "" }).catch(() => null);
  return made !== null;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
