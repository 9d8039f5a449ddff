import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect } from "vitest";
import { FIRST, RENEWED } from "../../src/platform/http/certificate.fixture.ts";
import { startTemporaryPostgres, type TemporaryPostgres } from "../../src/platform/postgres/temporary-postgres-rig.ts";
import { startS3TestServer } from "../../src/platform/storage/s3-test-server.ts";
import { makeTestFolder } from "../../src/platform/test-folder-rig.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { PowerCutDisk, whyNoPowerCuts } from "../support/power-cut-disk.ts";
import { killFamily } from "../support/process-family.ts";
import { freePort, WeirProcess } from "../support/weir-process.ts";
import { FaultyStore } from "./faulty-store.ts";
import { ForwardTarget } from "./forward-target-rig.ts";
import { PulledSource } from "./pulled-source.ts";
import { StoredThings } from "./stored-things.ts";

const OBSERVER = new URL("../support/observer.js", import.meta.url).href;
/** Longer than any fault, so that a session goes on through all of them. */
export const WINDOW_MS = 90_000;
const LAST_LINES = 200;
const READY_WITHIN_MS = 120_000;
const FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

export interface WorldOptions {
  /** The repository that the server runs from; by default this one. */
  readonly root?: string | undefined;
  readonly mediaProcesses?: number;
  /** Of the source that is pulled. */
  readonly minutes: number;
  /** Settings more. */
  readonly env?: Readonly<Record<string, string>>;
}

type Parts = Pick<
  World,
  | "weir"
  | "postgres"
  | "line"
  | "store"
  | "stored"
  | "source"
  | "target"
  | "disk"
  | "folder"
  | "srtPort"
  | "httpsPort"
  | "metricsUrl"
> & { readonly canStepClock: boolean };

/** A server, its PostgreSQL and its bucket, its disk and its clock, each of which can fail. */
export class World implements AsyncDisposable {
  readonly weir: WeirProcess;
  readonly postgres: TemporaryPostgres;
  /** Between the server and PostgreSQL. */
  readonly line: FaultProxy;
  /** Between the server and the bucket. */
  readonly store: FaultyStore;
  /** What is in the database and in the bucket, past their faults. */
  readonly stored: StoredThings;
  /** Which a stream is pulled from. */
  readonly source: PulledSource;
  /** Which a stream is forwarded to. */
  readonly target: ForwardTarget;
  /** With the server's data folder; null where this machine has none that can fail. */
  readonly disk: PowerCutDisk | null;
  /** The server's temporary folder, its certificate and its clock. */
  readonly folder: string;
  readonly srtPort: number;
  readonly httpsPort: number;
  readonly metricsUrl: string;
  readonly canStepClock: boolean;
  /** Faults that took media. */
  kills = 0;
  /** Segments that a recording may lack in a rendition, by what was done so far. */
  mayLack = 1;
  readonly #closing: AsyncDisposableStack;

  private constructor(parts: Parts, closing: AsyncDisposableStack) {
    this.weir = parts.weir;
    this.postgres = parts.postgres;
    this.line = parts.line;
    this.store = parts.store;
    this.stored = parts.stored;
    this.source = parts.source;
    this.target = parts.target;
    this.disk = parts.disk;
    this.folder = parts.folder;
    this.srtPort = parts.srtPort;
    this.httpsPort = parts.httpsPort;
    this.metricsUrl = parts.metricsUrl;
    this.canStepClock = parts.canStepClock;
    this.#closing = closing;
  }

  static async open({ root, mediaProcesses = 1, minutes, env: more }: WorldOptions): Promise<World> {
    await using opening = new AsyncDisposableStack();
    const postgres = await startTemporaryPostgres();
    opening.defer(() => postgres.close());
    const s3 = await startS3TestServer();
    opening.defer(() => s3.close());
    const { host, port, user, database } = postgres.address;
    const line = opening.use(await FaultProxy.open(() => connect(`${host}/.s.PGSQL.${port}`)));
    const store = opening.use(await FaultyStore.open(s3.settings.endpoint));
    const stored = opening.use(await StoredThings.open(postgres.address, s3.env));
    const source = opening.use(await PulledSource.open(60 * (2 * minutes + 10)));
    const target = opening.use(await ForwardTarget.open());
    const folder = makeTestFolder("campaign");
    opening.defer(() => rm(folder, { recursive: true, force: true }));
    const disk = whyNoPowerCuts() ? null : opening.use(await PowerCutDisk.make("ext4"));
    const canStepClock = existsSync(FAKETIME);
    const [srtPort, metricsPort, httpsPort] = [await freePort(), await freePort(), await freePort()];
    const env = {
      DATABASE_URL: `postgres://${user}@127.0.0.1:${line.port}/${database}`,
      ...s3.env,
      WEIR_S3_ENDPOINT: store.endpoint,
      WEIR_RECONNECT_WINDOW_MS: String(WINDOW_MS),
      WEIR_ALLOW_PRIVATE_URLS: "1",
      WEIR_LOG_LEVEL: "debug",
      // The campaign has one key for everything.
      WEIR_RATE_LIMIT: "0",
      WEIR_SRT_PORT: String(srtPort),
      WEIR_METRICS_PORT: String(metricsPort),
      WEIR_HTTPS_PORT: String(httpsPort),
      WEIR_RTMPS_PORT: "off",
      WEIR_TLS_CERT: join(folder, "cert.pem"),
      WEIR_TLS_KEY: join(folder, "key.pem"),
      ...(mediaProcesses > 1 ? { WEIR_MEDIA_PROCESSES: String(mediaProcesses) } : {}),
      TMPDIR: join(folder, "tmp"),
      ...(canStepClock ? steppedBy(join(folder, "clock")) : {}),
      NODE_OPTIONS: `--expose-gc --import=${OBSERVER}`,
      CAMPAIGN_OBSERVED_IN: folder,
      ...more,
    };
    await mkdir(env.TMPDIR);
    await writeFile(join(folder, "clock"), "+0");
    await writeCertificate(folder, FIRST);
    const weir = opening.use(
      await WeirProcess.start({
        ...{ env, readyWithinMs: READY_WITHIN_MS },
        ...(root ? { root } : {}),
        ...(disk ? { dataFolder: disk.folder } : {}),
      }),
    );
    const parts = {
      weir,
      postgres,
      line,
      store,
      stored,
      source,
      target,
      disk,
      folder,
      srtPort,
      httpsPort,
      canStepClock,
    };
    const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    // With several processes, the first one answers before the others serve, and before there are metrics.
    const serving = async () => (await valuesOf(metricsUrl, "weir_publishers")).length;
    await expect.poll(serving, { timeout: READY_WITHIN_MS, interval: 200 }).toBe(mediaProcesses);
    return new World({ ...parts, metricsUrl }, opening.move());
  }

  srtUrl(streamKey: string): string {
    return `srt://127.0.0.1:${this.srtPort}?streamid=${streamKey}`;
  }

  /** The sum of a metric over its labels; 0 where there is none. */
  async metric(name: string): Promise<number> {
    return (await valuesOf(this.metricsUrl, name)).reduce((sum, value) => sum + value, 0);
  }

  /** Notes that recordings may lack so many segments from now on. */
  loses(segments: number): void {
    this.kills++;
    this.mayLack += segments;
  }

  /** The server's clock is this many seconds wrong from now on. */
  async stepClock(seconds: number): Promise<void> {
    await writeFile(join(this.folder, "clock"), `${seconds < 0 ? "" : "+"}${seconds}`);
  }

  /** As its serial number, which the HTTPS port shows. */
  certificate(isRenewed: boolean): string {
    return new X509Certificate((isRenewed ? RENEWED : FIRST).cert).serialNumber;
  }

  shownCertificate(): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({ port: this.httpsPort, host: "127.0.0.1", rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()?.serialNumber ?? "none");
        socket.destroy();
      });
      socket.once("error", reject);
    });
  }

  renewCertificate(isRenewed: boolean): Promise<void> {
    return writeCertificate(this.folder, isRenewed ? RENEWED : FIRST);
  }

  /** Kills the server with all its children, as a power cut does, and has its disk again. */
  async endAll(): Promise<void> {
    await killFamily(this.weir.pid);
    await this.weir.kill();
    await this.disk?.powerUp();
  }

  /** Ends every fault. */
  async mend(): Promise<void> {
    this.line.fault = "open";
    this.line.isDeaf = false;
    this.store.fault = "none";
    this.source.isSilent = false;
    await this.stepClock(0);
    await this.target.comeBack();
    await this.postgres.start();
  }

  /** What the server said last, for the reader of a failed run. */
  get lastWords(): string {
    return this.weir.log.split("\n").slice(-LAST_LINES).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mend();
    await this.#closing.disposeAsync();
  }
}

/** The values of a metric, one for each set of labels. */
async function valuesOf(metricsUrl: string, name: string): Promise<number[]> {
  const text = await (await fetch(metricsUrl)).text();
  const values = text.matchAll(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, "gm"));
  return Array.from(values, ([, value]) => Number(value));
}

/** The settings of libfaketime with which a file says how wrong a process's clock is. */
const steppedBy = (file: string): Record<string, string> => ({
  LD_PRELOAD: FAKETIME,
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_CACHE_DURATION: "1",
  FAKETIME_DONT_FAKE_MONOTONIC: "1",
  NO_FAKE_STAT: "1",
});

async function writeCertificate(folder: string, { cert, key }: typeof FIRST): Promise<void> {
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
}
