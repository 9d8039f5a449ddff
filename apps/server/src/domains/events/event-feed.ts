import type { StreamEvent } from "@weir/contract";
import type { Subscription } from "../../platform/channel-listener.ts";
import type { Timer } from "../../platform/clock.ts";
import type { Database } from "../../platform/database.ts";
import { Places } from "../../platform/limits/places.ts";
import { ApiError } from "../api/index.ts";
import type { Schema } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import type { Subject } from "../subject.ts";
import { CredentialWatch } from "./credential-watch.ts";
import { EVENT_CHANNEL, subjectsIn } from "./event-channel.ts";
import type { EventDeps } from "./event-log.ts";
import { EventTail } from "./event-tail.ts";

export interface EventFeedDeps extends EventDeps, Pick<DomainConfig, "sseEventName"> {
  readonly channels: Pick<Database<Schema>, "listen">;
}

/** A tail that stays open until it is released. */
export interface HeldTail {
  readonly tail: EventTail;
  release(): void;
}

interface Watched {
  readonly tail: EventTail;
  readonly started: Promise<void>;
  holders: number;
}

export interface FeedCounts {
  /** Readers that currently follow live events. */
  readonly readers: number;
  /** Subjects whose logs are being read. */
  readonly subjects: number;
  /** Connections closed since the start because their clients read too slowly. */
  readonly tooSlow: number;
}

/** A reader of the feed, as the limits see it. */
export interface FeedHolder {
  readonly projectId: string;
  readonly client: string;
}

/** The process, the project or the client has reached its limit of feed readers. */
const feedFull = (whose: "server" | "project" | "address") =>
  new ApiError(503, "feed-full", `this ${whose} has too many readers of event feeds: close some, or try again later`);

const PING_MS = 20_000;
/** Notifications are lost with a process that dies between its commit and them. */
const POLL_MS = 1_000;
const MAX_READERS = 5_000;
/** The rest is for other projects, and for other servers of the same project. */
const MAX_READERS_PER_PROJECT = 2_500;
const MAX_READERS_PER_CLIENT = 2_000;

/**
 * The tails of all logs that somebody in this process follows. Idle until the first reader; from then until it is closed, it listens for the
 * notifications of every process.
 */
export class EventFeed {
  /** The credentials that readers came with. */
  readonly credentials: CredentialWatch;
  readonly #deps: EventFeedDeps;
  /** By subject id. */
  readonly #watched = new Map<string, Watched>();
  #subscription: Promise<Subscription> | null = null;
  #ping: Timer | null = null;
  #poll: Timer | null = null;
  #isPolling = false;
  readonly #projects = new Places({ inAll: MAX_READERS, perHolder: MAX_READERS_PER_PROJECT });
  readonly #clients = new Places({ inAll: MAX_READERS, perHolder: MAX_READERS_PER_CLIENT });
  #tooSlow = 0;
  #isClosed = false;

  constructor(deps: EventFeedDeps) {
    this.#deps = deps;
    this.credentials = new CredentialWatch(deps.clock);
  }

  get counts(): FeedCounts {
    let readers = 0;
    for (const { tail } of this.#watched.values()) readers += tail.readers.size;
    return { readers, subjects: this.#watched.size, tooSlow: this.#tooSlow };
  }

  countTooSlow(): void {
    this.#tooSlow += 1;
  }

  /** The tail of the subject's log, and a function that releases it. Throws `feed-full`; rejects if the database does not answer. */
  async hold(subject: Subject, holder: FeedHolder): Promise<HeldTail> {
    this.#takePlace(holder);
    try {
      await this.#listen();
    } catch (error) {
      this.#giveBack(holder);
      throw error;
    }
    const watched = this.#watched.get(subject.id) ?? this.#watch(subject);
    watched.holders += 1;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      watched.holders -= 1;
      this.#giveBack(holder);
      if (watched.holders > 0) return;
      watched.tail.close();
      if (this.#watched.get(subject.id) === watched) this.#watched.delete(subject.id);
    };
    try {
      await watched.started;
    } catch (error) {
      release();
      throw error;
    }
    return { tail: watched.tail, release };
  }

  /** One event, rendered as lines of the feed. */
  readonly render = (event: StreamEvent): Buffer =>
    Buffer.from(`id: ${event.id}\nevent: ${this.#deps.sseEventName}\ndata: ${JSON.stringify(event)}\n\n`);

  /** Close every reader. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ping?.cancel();
    this.#poll?.cancel();
    this.credentials.close();
    for (const { tail } of [...this.#watched.values()]) tail.close();
    await (await this.#subscription?.catch(() => null))?.close();
  }

  /** One query for all logs that are followed. */
  async #lookForNews(): Promise<void> {
    if (this.#watched.size === 0 || this.#isPolling) return;
    this.#isPolling = true;
    try {
      const heads = await this.#deps.events.heads(this.#deps.db, [...this.#watched.keys()]);
      for (const [id, { tail }] of this.#watched) if ((heads.get(id) ?? 0) > tail.seq) tail.wake();
    } catch {
      // The tails read again when the database is back.
    } finally {
      this.#isPolling = false;
    }
  }

  #takePlace({ projectId, client }: FeedHolder): void {
    if (this.#projects.taken >= MAX_READERS) throw feedFull("server");
    if (!this.#projects.take(projectId)) throw feedFull("project");
    if (this.#clients.take(client)) return;
    this.#projects.giveBack(projectId);
    throw feedFull("address");
  }

  #giveBack({ projectId, client }: FeedHolder): void {
    this.#projects.giveBack(projectId);
    this.#clients.giveBack(client);
  }

  #watch(subject: Subject): Watched {
    const { db, clock, log, events } = this.#deps;
    const tail = new EventTail({ db, clock, log, events, subject, render: this.render });
    const watched = { tail, started: tail.start(), holders: 0 };
    this.#watched.set(subject.id, watched);
    return watched;
  }

  /** Register before looking up the log's end, so that no event falls between the two. */
  async #listen(): Promise<void> {
    if (this.#isClosed) throw new Error("the event feed is closed");
    this.#ping ??= this.#deps.clock.every(PING_MS, () => {
      for (const { tail } of this.#watched.values()) for (const reader of tail.readers) reader.ping();
    });
    this.#poll ??= this.#deps.clock.every(POLL_MS, () => void this.#lookForNews());
    this.#subscription ??= this.#deps.channels.listen(EVENT_CHANNEL, {
      message: (payload) => {
        for (const id of subjectsIn(payload) ?? this.#watched.keys()) this.#watched.get(id)?.tail.wake();
      },
      reconnected: () => {
        for (const { tail } of this.#watched.values()) tail.wake();
      },
    });
    try {
      await this.#subscription;
    } catch (error) {
      this.#subscription = null;
      throw error;
    }
  }
}
