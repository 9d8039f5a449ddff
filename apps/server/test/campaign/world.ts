import { connect } from "node:net";
import { systemClock } from "../../src/platform/clock.ts";
import { startTemporaryPostgres, type TemporaryPostgres } from "../../src/platform/postgres/temporary-postgres-rig.ts";
import { S3ObjectStore } from "../../src/platform/storage/s3-object-store.ts";
import { startS3TestServer } from "../../src/platform/storage/s3-test-server.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { WeirProcess } from "../support/weir-process.ts";
import { FaultyStore } from "./faulty-store.ts";

/** Longer than any fault, so that a session goes on through all of them. */
export const WINDOW_MS = 90_000;
const LAST_LINES = 40;

/** A server, its PostgreSQL and its bucket, each of which can fail. */
export class World implements AsyncDisposable {
  readonly weir: WeirProcess;
  readonly postgres: TemporaryPostgres;
  /** Between the server and PostgreSQL. */
  readonly line: FaultProxy;
  /** Between the server and the bucket. */
  readonly store: FaultyStore;
  /** The bucket, past its faults. */
  readonly objects: S3ObjectStore;
  /** How often the server was killed. */
  kills = 0;
  readonly #closing: AsyncDisposableStack;

  private constructor(
    parts: Pick<World, "weir" | "postgres" | "line" | "store" | "objects">,
    closing: AsyncDisposableStack,
  ) {
    this.weir = parts.weir;
    this.postgres = parts.postgres;
    this.line = parts.line;
    this.store = parts.store;
    this.objects = parts.objects;
    this.#closing = closing;
  }

  /** `root`: the repository that the server runs from; by default this one. */
  static async open(root?: string): Promise<World> {
    await using opening = new AsyncDisposableStack();
    const postgres = await startTemporaryPostgres();
    opening.defer(() => postgres.close());
    const s3 = await startS3TestServer();
    opening.defer(() => s3.close());
    const { host, port, user, database } = postgres.address;
    const line = opening.use(await FaultProxy.open(() => connect(`${host}/.s.PGSQL.${port}`)));
    const store = opening.use(await FaultyStore.open(s3.settings.endpoint));
    const env = {
      DATABASE_URL: `postgres://${user}@127.0.0.1:${line.port}/${database}`,
      ...s3.env,
      WEIR_S3_ENDPOINT: store.endpoint,
      WEIR_RECONNECT_WINDOW_MS: String(WINDOW_MS),
      WEIR_ALLOW_PRIVATE_URLS: "1",
      // The campaign has one key for everything.
      WEIR_RATE_LIMIT: "0",
    };
    const weir = opening.use(await WeirProcess.start({ env, readyWithinMs: 60_000, ...(root ? { root } : {}) }));
    const objects = new S3ObjectStore(s3.settings, systemClock);
    return new World({ weir, postgres, line, store, objects }, opening.move());
  }

  /** Ends every fault. */
  async mend(): Promise<void> {
    this.line.fault = "open";
    this.line.isDeaf = false;
    this.store.fault = "none";
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
