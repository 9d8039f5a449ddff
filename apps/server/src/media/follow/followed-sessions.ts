import type { IncomingMessage } from "node:http";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { NodePlace, OtherNodes } from "../../platform/cluster/index.ts";
import type { Log } from "../../platform/log.ts";
import { PAGE_BYTES, type PageMemory } from "../page-memory.ts";
import { FollowedSession } from "./followed-session.ts";
import { writePlaces } from "./window-address.ts";
import { windowReader } from "./window-messages.ts";

/** The owner says something twice a second. */
const SILENT_MS = 1_500;
const RETRY_MS = 250;
const ENDED_RETRY_MS = 1_000;
/** Without its owner for this long, a copy is of no use. */
const AWAY_MS = 12_000;
/** After the last viewer. */
const KEPT_MS = 30_000;
/** The first viewer waits so long for the window before the owner has to answer. */
const JOIN_MS = 1_000;
const LOOK_MS = 250;
/** Each holds a window: some 10 MB. */
const MAX_FOLLOWED = 500;
/** Of all windows of this process together. With more, viewers of other nodes' streams are answered by these. */
const MAX_WINDOW_BYTES = 4 * 1024 ** 3;

export interface FollowedSessionsSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly memory: PageMemory;
  readonly others: Pick<OtherNodes, "read" | "placeOf">;
}

/**
 * Copies of the live windows that other nodes have, for the viewers who ask here: from the first viewer on until 30 s after the last. A copy stays while
 * its owner is away, and goes on with the next one.
 */
export class FollowedSessions {
  readonly #settings: FollowedSessionsSettings;
  readonly #byPlaybackId = new Map<string, Following>();
  /** Each part's request looks here. */
  readonly #bySessionId = new Map<string, FollowedSession>();
  #timer: Timer | null = null;

  constructor(settings: FollowedSessionsSettings) {
    this.#settings = settings;
  }

  get count(): number {
    return this.#byPlaybackId.size;
  }

  session(sessionId: string): FollowedSession | undefined {
    return this.#bySessionId.get(sessionId);
  }

  sessionOf(playbackId: string): FollowedSession | undefined {
    return this.#byPlaybackId.get(playbackId)?.session ?? undefined;
  }

  /** The copy for a viewer; undefined where there is none, and the owner has to answer. */
  find(
    playbackId: string,
    streamId: string,
    place: NodePlace,
  ): FollowedSession | undefined | Promise<FollowedSession | undefined> {
    let following = this.#byPlaybackId.get(playbackId);
    if (!following) {
      const { memory } = this.#settings;
      const isFull = memory.pagesInUse * PAGE_BYTES > MAX_WINDOW_BYTES;
      if (isFull || this.#byPlaybackId.size >= MAX_FOLLOWED) return undefined;
      following = new Following(this.#settings, { playbackId, streamId, place }, this.#bySessionId);
      this.#byPlaybackId.set(playbackId, following);
      this.#timer ??= this.#settings.clock.every(LOOK_MS, () => this.#look());
    }
    return following.use(place);
  }

  close(): void {
    this.#timer?.cancel();
    for (const following of this.#byPlaybackId.values()) following.close();
    this.#byPlaybackId.clear();
  }

  #look(): void {
    for (const [playbackId, following] of this.#byPlaybackId) {
      following.look();
      if (!following.isOver) continue;
      following.close();
      this.#byPlaybackId.delete(playbackId);
    }
    if (this.#byPlaybackId.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }
}

interface Followed {
  readonly playbackId: string;
  readonly streamId: string;
  readonly place: NodePlace;
}

/** One copy and its connection to the owner. */
class Following {
  session: FollowedSession | null = null;
  readonly #settings: FollowedSessionsSettings;
  readonly #followed: Followed;
  readonly #sessions: Map<string, FollowedSession>;
  #place: NodePlace;
  #usedAt: number;
  /** When the owner last said something. */
  #heardAt: number;
  #triedAt = Number.NEGATIVE_INFINITY;
  #connection: AbortController | null = null;
  #joined: Promise<FollowedSession | undefined> | null = null;
  #onJoined: () => void = () => {};
  #isRefused = false;

  /** `sessions`: the copies of all, by session. */
  constructor(settings: FollowedSessionsSettings, followed: Followed, sessions: Map<string, FollowedSession>) {
    this.#settings = settings;
    this.#followed = followed;
    this.#sessions = sessions;
    this.#place = followed.place;
    this.#usedAt = this.#heardAt = settings.clock.monotonic();
  }

  get isOver(): boolean {
    const now = this.#settings.clock.monotonic();
    const awayMs = this.session?.isFinished ? 0 : now - this.#heardAt;
    return this.#isRefused || now - this.#usedAt > KEPT_MS || awayMs > AWAY_MS;
  }

  use(place: NodePlace): FollowedSession | undefined | Promise<FollowedSession | undefined> {
    this.#usedAt = this.#settings.clock.monotonic();
    this.#place = place;
    if (this.session) return this.session;
    this.#joined ??= this.#join();
    return this.#joined;
  }

  /** Connects again after a loss, and notices silence. */
  look(): void {
    const { clock } = this.#settings;
    const now = clock.monotonic();
    if (this.#connection && now - Math.max(this.#heardAt, this.#triedAt) > SILENT_MS) this.#connection.abort();
    // After the end, whether there is another session.
    const retryMs = this.session?.isFinished ? ENDED_RETRY_MS : RETRY_MS;
    if (!this.#connection && !this.#isRefused && now - this.#triedAt >= retryMs) void this.#read();
  }

  close(): void {
    this.#connection?.abort();
    this.#dispose();
    this.#isRefused = true;
    this.#onJoined();
  }

  async #join(): Promise<FollowedSession | undefined> {
    const { clock } = this.#settings;
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = clock.after(JOIN_MS, resolve);
    this.#onJoined = resolve;
    if (!this.#connection) void this.#read();
    await promise;
    late.cancel();
    this.#joined = null;
    return this.session ?? undefined;
  }

  /** Takes what the owner says, until the connection ends. Never rejects. */
  async #read(): Promise<void> {
    const { clock, log, others } = this.#settings;
    const { playbackId, streamId } = this.#followed;
    const connection = new AbortController();
    this.#connection = connection;
    this.#triedAt = clock.monotonic();
    try {
      const place = others.placeOf(streamId, this.#place);
      // This node has the stream itself now.
      if (!place) return this.#refuse();
      const path = `/live/${playbackId}${writePlaces(this.session)}`;
      const answer = await others.read(place, path, connection.signal);
      if (answer.statusCode === 200) await this.#take(answer);
      else {
        answer.resume();
        if (!this.session) this.#refuse();
      }
    } catch (error) {
      if (!connection.signal.aborted) log.debug({ err: error, playbackId }, "lost the node that has a stream");
      if (!this.session) this.#refuse();
    } finally {
      this.#connection = null;
    }
  }

  async #take(answer: IncomingMessage): Promise<void> {
    const read = windowReader();
    const { clock } = this.#settings;
    for await (const bytes of answer as AsyncIterable<Buffer>) {
      this.#heardAt = clock.monotonic();
      for (const message of read(bytes)) {
        if (message.kind === "session") this.#begin(message);
        else this.session?.take(message);
        if (message.kind === "offered" && message.renditions.length > 0) this.#onJoined();
      }
    }
  }

  /** Another session of the stream is another copy. */
  #begin(message: Parameters<typeof sessionOf>[0]): void {
    if (this.session?.sessionId === message.sessionId) return;
    this.#dispose();
    this.session = sessionOf(message, this.#settings);
    this.#sessions.set(message.sessionId, this.session);
  }

  #dispose(): void {
    if (this.session) this.#sessions.delete(this.session.sessionId);
    this.session?.dispose();
    this.session = null;
  }

  /** There is nothing to follow there: the next viewer asks anew. */
  #refuse(): void {
    this.#isRefused = true;
    this.#onJoined();
  }
}

const sessionOf = (
  message: ConstructorParameters<typeof FollowedSession>[0],
  { memory, clock }: FollowedSessionsSettings,
): FollowedSession => new FollowedSession(message, memory, clock);
