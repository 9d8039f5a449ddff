import type { Clock } from "../../platform/clock.ts";
import type { NodePlace, OtherNodes } from "../../platform/cluster/index.ts";
import type { Log } from "../../platform/log.ts";
import type { PageMemory } from "../page-memory.ts";
import type { Sent } from "../sent.ts";
import { FollowedSession, type GivenSession } from "./followed-session.ts";
import { writePlaces } from "./window-address.ts";
import { type WindowMessage, windowTaker } from "./window-messages.ts";

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
/** By then a node that was to own the session does, or does not. */
const HELD_MS = 5_000;

export interface FollowingSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly memory: PageMemory;
  readonly others: Pick<OtherNodes, "read" | "placeOf">;
  /** A session that this node had and left, if nobody else writes its window. */
  readonly takeLeft: (playbackId: string) => LeftSession | null;
}

/** What the viewers of a copy were sent, since it was told last. */
export interface ToldSent {
  readonly sessionId: string;
  readonly bytes: number;
}

/** A session whose next owner is another node: its window goes on here as a copy. */
export interface LeftSession extends GivenSession {
  /** Resolves when its renditions have all that they get here. */
  whole(): Promise<void>;
}

/** A copy whose owner this node is about to be: nobody else writes it. */
export interface HeldCopy {
  /** Null until its owner has told of it. */
  readonly session: FollowedSession | null;
  /** Throws for a message that does not fit what came before. */
  take(message: WindowMessage): void;
}

/** What a session's owner is to be told. */
export interface Untold {
  readonly place: NodePlace;
  readonly sent: ToldSent;
  /** To be called once it knows. */
  readonly taken: () => void;
}

export interface Followed {
  readonly playbackId: string;
  readonly streamId: string;
  readonly place: NodePlace;
}

/** One copy and its connection to the owner. */
export class Following implements HeldCopy {
  session: FollowedSession | null = null;
  readonly #settings: FollowingSettings;
  readonly #followed: Followed;
  readonly #sessions: Map<string, FollowedSession>;
  readonly #past: Sent;
  /** Of the bytes that viewers of this copy were sent, those that the owner knows. */
  #told = 0;
  #place: NodePlace;
  #usedAt: number;
  /** When the owner last said something. */
  #heardAt: number;
  #triedAt = Number.NEGATIVE_INFINITY;
  #connection: AbortController | null = null;
  #joined: Promise<FollowedSession | undefined> | null = null;
  #onJoined: () => void = () => {};
  #hasJoined = false;
  #isRefused = false;
  #isClosed = false;
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** No ladder of this node writes here any more. */
  isWhole = true;
  whole: Promise<void> = Promise.resolve();

  /** `sessions`: the copies of all, by session. `past`: what those that are given up have sent. */
  constructor(settings: FollowingSettings, followed: Followed, sessions: Map<string, FollowedSession>, past: Sent) {
    this.#settings = settings;
    this.#past = past;
    this.#followed = followed;
    this.#sessions = sessions;
    this.#place = followed.place;
    this.#usedAt = this.#heardAt = settings.clock.monotonic();
    const left = settings.takeLeft(followed.playbackId);
    if (left) this.#goOnWith(left);
  }

  get isOver(): boolean {
    const now = this.#settings.clock.monotonic();
    const awayMs = this.session?.isFinished ? 0 : now - this.#heardAt;
    const isUnused = this.#isRefused || now - this.#usedAt > KEPT_MS || awayMs > AWAY_MS;
    return isUnused && !this.#isHeld;
  }

  /** Somebody else writes it, or will in a moment. */
  get #isHeld(): boolean {
    return !this.isWhole || this.#settings.clock.monotonic() < this.#heldUntil;
  }

  use(place: NodePlace): FollowedSession | undefined | Promise<FollowedSession | undefined> {
    this.#usedAt = this.#settings.clock.monotonic();
    this.#place = place;
    this.#hasJoined ||= this.session?.isReady === true;
    if (this.session && this.#hasJoined) return this.session;
    this.#joined ??= this.#join();
    return this.#joined;
  }

  /** Nobody writes the copy for a moment but its holder. */
  hold(): void {
    this.#heldUntil = this.#settings.clock.monotonic() + HELD_MS;
    this.#isRefused = false;
    this.#connection?.abort();
  }

  take(message: WindowMessage): void {
    if (this.#isClosed) return;
    if (message.kind === "session") this.#begin(message);
    else this.session?.take(message);
  }

  /** Connects again after a loss, and notices silence. */
  look(): void {
    const { clock } = this.#settings;
    const now = clock.monotonic();
    if (this.#isHeld) return;
    if (this.#connection && now - Math.max(this.#heardAt, this.#triedAt) > SILENT_MS) this.#connection.abort();
    // After the end, whether there is another session.
    const retryMs = this.session?.isFinished ? ENDED_RETRY_MS : RETRY_MS;
    if (!this.#connection && !this.#isRefused && now - this.#triedAt >= retryMs) void this.#read();
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.abort();
    this.#dispose();
    this.#onJoined();
  }

  async #join(): Promise<FollowedSession | undefined> {
    const { clock } = this.#settings;
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = clock.after(JOIN_MS, resolve);
    this.#onJoined = resolve;
    if (!this.#connection && !this.#isHeld) void this.#read();
    await promise;
    late.cancel();
    this.#joined = null;
    // Sound that was announced may never come.
    this.#hasJoined = this.session !== null;
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
      const places = writePlaces(this.session);
      const path = `/live/${playbackId}${places && `?from=${places}`}`;
      const status = await others.read(place, path, this.#reader(connection.signal), connection.signal);
      if (status !== 200 && !this.session) this.#refuse();
    } catch (error) {
      if (!connection.signal.aborted) log.debug({ err: error, playbackId }, "lost the node that has a stream");
      if (!this.session) this.#refuse();
    } finally {
      this.#connection = null;
    }
  }

  /** What the owner does not know yet of what viewers of this copy were sent; null for nothing. */
  get untold(): Untold | null {
    const { session } = this;
    const bytes = (session?.sent.bytes ?? 0) - this.#told;
    const place = this.#settings.others.placeOf(this.#followed.streamId, this.#place);
    if (!session || !place || bytes === 0) return null;
    const taken = () => {
      if (this.session === session) this.#told += bytes;
    };
    return { place, sent: { sessionId: session.sessionId, bytes }, taken };
  }

  /** Takes what a connection brings. */
  #reader(signal: AbortSignal): (bytes: Buffer) => void {
    const { clock } = this.#settings;
    const read = windowTaker((message) => {
      this.take(message);
      if (this.#joined && this.session?.isReady) this.#onJoined();
    });
    return (bytes) => {
      if (signal.aborted) return;
      this.#heardAt = clock.monotonic();
      read(bytes);
    };
  }

  /** The next owner's messages come behind the last of this node's own. */
  #goOnWith(left: LeftSession): void {
    const { memory, clock } = this.#settings;
    this.session = FollowedSession.of(left, memory, clock);
    this.#sessions.set(left.sessionId, this.session);
    this.#hasJoined = true;
    this.isWhole = false;
    this.whole = left.whole().then(() => {
      this.isWhole = true;
    });
  }

  /** Another session of the stream is another copy. */
  #begin(message: Parameters<typeof sessionOf>[0]): void {
    if (this.session?.sessionId === message.sessionId) return;
    this.#dispose();
    this.#hasJoined = false;
    this.session = sessionOf(message, this.#settings);
    this.#sessions.set(message.sessionId, this.session);
  }

  #dispose(): void {
    const { session } = this;
    if (session) {
      this.#sessions.delete(session.sessionId);
      this.#past.add(session.sent);
      if (this.isWhole) session.dispose();
      else void this.whole.then(() => session.dispose());
    }
    this.session = null;
    this.#told = 0;
  }

  /** There is nothing to follow there: the next viewer asks anew. */
  #refuse(): void {
    this.#isRefused = !this.#isHeld;
    this.#onJoined();
  }
}

const sessionOf = (
  message: ConstructorParameters<typeof FollowedSession>[0],
  { memory, clock }: FollowingSettings,
): FollowedSession => new FollowedSession(message, memory, clock);
