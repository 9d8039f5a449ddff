import { connect } from "node:net";
import type { NewStream, Session, Stream, StreamEvent } from "@weir/contract";
import pg from "pg";
import { type ExpectStatic, expect, vi } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { startTemporaryPostgres } from "../../src/platform/postgres/temporary-postgres-rig.ts";
import { S3Bucket } from "../../src/platform/storage/s3-bucket.ts";
import type { S3Settings } from "../../src/platform/storage/s3-client.ts";
import { S3ObjectStore } from "../../src/platform/storage/s3-object-store.ts";
import { startS3TestServer } from "../../src/platform/storage/s3-test-server.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { NameCollector } from "./name-collector.ts";
import { type Publisher, type PublisherOptions, startPublisher } from "./publisher.ts";
import { recordedSeconds } from "./recorded-seconds.ts";
import { connectWithoutMedia } from "./silent-test-encoder.ts";
import { WeirProcess, type WeirProcessOptions } from "./weir-process.ts";

type Postgres = Awaited<ReturnType<typeof startTemporaryPostgres>>;

/** A process of Weir and its own line to the database. */
export interface Node {
  readonly name: string;
  readonly weir: WeirProcess;
  readonly line: FaultProxy;
}

export interface NodeOptions extends Pick<WeirProcessOptions, "dataFolder" | "through" | "root"> {
  readonly env?: Readonly<Record<string, string>>;
}

const LAST_LINES = 30;

/** Processes of Weir on one PostgreSQL and one bucket; each reaches the database by a line of its own that can fail. */
export class Nodes implements AsyncDisposable {
  readonly postgres: Postgres;
  /** The bucket that all nodes share. */
  readonly bucket: S3Bucket;
  readonly objects: S3ObjectStore;
  readonly #env: Readonly<Record<string, string>>;
  readonly #closing: AsyncDisposableStack;
  readonly #nodes = new Map<string, Node>();

  private constructor(
    postgres: Postgres,
    s3: S3Settings,
    env: Readonly<Record<string, string>>,
    closing: AsyncDisposableStack,
  ) {
    this.postgres = postgres;
    this.bucket = new S3Bucket(s3, systemClock);
    this.objects = new S3ObjectStore(s3, systemClock);
    this.#env = env;
    this.#closing = closing;
  }

  /** With an api, a worker, and these media processes. */
  static async open(media: readonly string[] = ["a", "b"], env: Readonly<Record<string, string>> = {}): Promise<Nodes> {
    await using opening = new AsyncDisposableStack();
    const postgres = await startTemporaryPostgres();
    opening.defer(() => postgres.close());
    const s3 = await startS3TestServer();
    opening.defer(() => s3.close());
    const nodes = new Nodes(postgres, s3.settings, { ...s3.env, ...env }, opening.move());
    try {
      // The first one makes the tables and the account.
      await nodes.start("api", { env: { WEIR_ROLES: "api" } });
      await Promise.all([
        nodes.start("worker", { env: { WEIR_ROLES: "worker" } }),
        ...media.map((name) => nodes.start(name, { env: { WEIR_ROLES: "media" } })),
      ]);
    } catch (error) {
      await nodes[Symbol.asyncDispose]();
      throw error;
    }
    return nodes;
  }

  get api(): WeirProcess {
    return this.node("api").weir;
  }

  get all(): readonly Node[] {
    return [...this.#nodes.values()];
  }

  node(name: string): Node {
    const node = this.#nodes.get(name);
    if (!node) throw new Error(`there is no node ${name}`);
    return node;
  }

  /** Start another process. Rejects where it does not start. */
  async start(name: string, { env = {}, ...options }: NodeOptions = {}): Promise<Node> {
    const { host, port, user, database } = this.postgres.address;
    const line = await FaultProxy.open(() => connect(`${host}/.s.PGSQL.${port}`));
    this.#closing.use(line);
    const DATABASE_URL = `postgres://${user}@127.0.0.1:${line.port}/${database}`;
    const weir = await WeirProcess.start({
      ...options,

      env: { DATABASE_URL, ...this.#env, ...env },
    });
    this.#closing.use(weir);
    const node = { name, weir, line };
    this.#nodes.set(name, node);
    return node;
  }

  /** What the database says, past all lines. */
  async query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const { host, port, user, database } = this.postgres.address;
    const client = new pg.Client({ host, port, user, database });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Numbers of a session's recorded segments that are missing between its first and its last. */
  async missingSegments(sessionId: string): Promise<number[]> {
    const rows = await this.query<{ msn: string }>(
      `select msn from recording_segment where session_id = '${sessionId}' and rendition = 'source' and not gap order by msn`,
    );
    const msns = rows.map(({ msn }) => Number(msn));
    return msns.flatMap((msn, nth) => {
      const before = msns[nth - 1] ?? msn - 1;
      return Array.from({ length: msn - before - 1 }, (_, n) => before + 1 + n);
    });
  }

  /** What the nodes said last, for the reader of a failed test. */
  get lastWords(): string {
    return this.all
      .map(({ name, weir }) => `${name}:\n${weir.log.split("\n").slice(-LAST_LINES).join("\n")}\n`)
      .join("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { line } of this.#nodes.values()) line.fault = "open";
    await this.#closing.disposeAsync();
  }
}

/** For the reader of a run: what was measured. A test beside others gives its own `expect`, which knows its name. */
export function figure(what: string, value: number | string, ofTest: ExpectStatic = expect): void {
  process.stdout.write(`${ofTest.getState().currentTestName}: ${what}: ${value}\n`);
}

export type StagedOptions = Omit<NewStream, "name"> & { readonly watchedAt?: readonly string[] };

/** A stream without a ladder, its publishers at any node, and all that the nodes show of it. */
export class StagedStream implements AsyncDisposable {
  readonly stream: Stream;
  readonly seen: NameCollector;
  readonly #nodes: Nodes;
  readonly #publishers: Publisher[] = [];

  private constructor(nodes: Nodes, stream: Stream, watchedAt: readonly string[]) {
    this.#nodes = nodes;
    this.stream = stream;
    const places = watchedAt.map((node) => ({ node, hlsUrl: nodes.node(node).weir.hlsUrl(stream.playbackId) }));
    this.seen = new NameCollector(places);
  }

  static async create(nodes: Nodes, { watchedAt = ["a", "b"], ...options }: StagedOptions = {}): Promise<StagedStream> {
    const name = expect.getState().currentTestName ?? "test";
    const stream = await nodes.api.client.streams.create({ name, profiles: [], record: true, ...options });
    return new StagedStream(nodes, stream, watchedAt);
  }

  /** Small pictures, so that many processes have room on a machine. */
  async publishAt(node: string, options: Partial<PublisherOptions> = {}): Promise<Publisher> {
    const url = this.#nodes.node(node).weir.publishUrl(this.stream.streamKey ?? "");
    const publisher = await startPublisher({ seconds: 300, bitrateBps: 300_000, ...options, url });
    this.#publishers.push(publisher);
    return publisher;
  }

  /** An encoder that is let in, sends nothing, and leaves. */
  async connectWithoutMedia(node: string, ms: number): Promise<void> {
    const { rtmpPort } = this.#nodes.node(node).weir;
    await connectWithoutMedia(rtmpPort, this.stream.streamKey ?? "", ms);
  }

  now(): Promise<Stream> {
    return this.#nodes.api.client.streams.get(this.stream.id);
  }

  async untilState(state: Stream["status"]["state"], withinMs = 15_000): Promise<Stream> {
    try {
      const isSo = async () => expect((await this.now()).status.state).toBe(state);
      await vi.waitFor(isSo, { timeout: withinMs, interval: 50 });
    } catch (error) {
      process.stderr.write(this.#nodes.lastWords);
      throw error;
    }
    return this.now();
  }

  /** Resolves when a node lists a segment behind this one. */
  async untilListed(node: string, behind = 0, withinMs = 20_000): Promise<number> {
    let last = 0;
    const listed = () => {
      last = Math.max(0, ...this.seen.lists.filter((list) => list.node === node).map(({ lastMsn }) => lastMsn));
      return last;
    };
    await vi.waitFor(() => expect(listed()).toBeGreaterThan(behind), { timeout: withinMs, interval: 50 });
    return last;
  }

  /** The last number in a list that was asked for from now on. */
  async lastListed(node: string): Promise<number> {
    const before = this.seen.lists.length;
    const later = () =>
      this.seen.lists.slice(before).filter((list) => list.node === node && list.rendition === "source");
    // The first one may have been asked for before.
    await vi.waitFor(() => expect(later().length).toBeGreaterThan(1), { timeout: 10_000 });
    return later().at(-1)?.lastMsn ?? 0;
  }

  /** The highest number that any node has listed. */
  async newest(): Promise<number> {
    return Math.max(0, ...this.seen.lists.map(({ lastMsn }) => lastMsn));
  }

  sessions(): Promise<readonly Session[]> {
    return this.#nodes.api.client.sessions.ofStream(this.stream.id).then(({ items }) => items);
  }

  /** The newest session once its recording is ready. */
  async recorded(withinMs = 60_000): Promise<Session> {
    const newest = async () => (await this.sessions())[0];
    await vi.waitFor(async () => expect((await newest())?.recordingStatus).toBe("ready"), { timeout: withinMs });
    const session = await newest();
    if (!session) throw new Error("there is no session");
    return session;
  }

  /** Resolves with its only session, which went on at every move, and whose recording plays whole at this node. */
  async wholeSession(sessionId: string | null | undefined, node: string): Promise<Session> {
    const session = await this.recorded();
    expect(session.id).toBe(sessionId);
    expect(await this.sessions()).toHaveLength(1);
    expect(await this.states()).toEqual([true, false]);
    expect(await this.secondsOf(session, node)).toBeCloseTo(session.sourceSegmentsDuration, 0);
    expect(this.seen.clashes).toEqual([]);
    return session;
  }

  /** The seconds that the MP4 of a recording plays at a node. */
  secondsOf({ mp4Url = "" }: Session, node: string): Promise<number> {
    return recordedSeconds(mp4Url.replace(this.#nodes.api.url, this.#nodes.node(node).weir.url));
  }

  /** Each `stream_state` event so far. */
  async states(): Promise<boolean[]> {
    return (await this.#events()).flatMap((event) => (event.type === "stream_state" ? [event.state.active] : []));
  }

  /** The names of the events for webhooks so far that begin so. */
  async told(prefix: string): Promise<string[]> {
    const names = (await this.#events()).flatMap((event) => (event.type === "webhook_event" ? [event.event] : []));
    return names.filter((name) => name.startsWith(prefix));
  }

  async #events(): Promise<StreamEvent[]> {
    const { id, createdAt } = this.stream;
    const range = { from: createdAt - 60_000, to: Date.now() };
    const events: StreamEvent[] = [];
    for await (const event of this.#nodes.api.client.streams.events(id, range)) events.push(event);
    return events;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.seen.stop();
    await Promise.all(this.#publishers.map((publisher) => publisher.kill()));
  }
}
