import type { Clock, Timer } from "../../platform/clock.ts";
import type { NodePlace, OtherNodes } from "../../platform/cluster/index.ts";
import type { Log } from "../../platform/log.ts";
import { sleep } from "../../platform/retry.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import { PAGE_BYTES, type PageMemory } from "../page-memory.ts";
import { Sent } from "../sent.ts";
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
/** A session that comes back at once waits so long for the ladder that it had here, or goes on without its window. */
const WHOLE_WITHIN_MS = 200;
const LOOK_MS = 250;
/** How often the owner is told what the viewers of a copy were sent: twice for each of its figures. */
const TELL_SENT_MS = 5_000;
const TOLD_WITHIN_MS = 2_000;
/** Each holds a window: some 10 MB. */
const MAX_FOLLOWED = 500;
/** Of all windows of this process together. With more, viewers of other nodes' streams are answered by these. */
const MAX_WINDOW_BYTES = 4 * 1024 ** 3;

export interface FollowedSessionsSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly memory: PageMemory;
  readonly others: Pick<OtherNodes, "read" | "tell" | "placeOf">;
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

/**
 * Copies of the live windows that other nodes have, for the viewers who ask here: from the first viewer on until 30 s after the last. A copy stays while
 * its owner is away, and goes on with the next one.
 */
export class FollowedSessions {
  readonly #settings: FollowedSessionsSettings;
  readonly #byPlaybackId = new Map<string, Following>();
  /** Each part's request looks here. */
  readonly #bySessionId = new Map<string, FollowedSession>();
  /** Of copies that are given up. */
  readonly #past = new Sent();
  #toldAt = 0;
  #timer: Timer | null = null;

  constructor(settings: FollowedSessionsSettings) {
    this.#settings = settings;
  }

  get count(): number {
    return this.#byPlaybackId.size;
  }

  /** What viewers of copies were sent, since the start. */
  get sent(): Sent {
    const all = new Sent();
    all.add(this.#past);
    for (const { sent } of this.#bySessionId.values()) all.add(sent);
    return all;
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
    return this.#followingOf({ playbackId, streamId, place })?.use(place);
  }

  /** The copy of a stream that this node is about to own; null where there is no room for one, or its ladder of before still writes there. */
  async hold(followed: Followed): Promise<HeldCopy | null> {
    const following = this.#followingOf(followed);
    if (!following) return null;
    following.hold();
    if (!following.isWhole) await Promise.race([following.whole, sleep(this.#settings.clock, WHOLE_WITHIN_MS)]);
    return following.isWhole ? following : null;
  }

  /** The window of a session that this node owns now, which writes it from here on; undefined without a copy. */
  take(playbackId: string, sessionId: string): ReadonlyMap<string, LiveRendition> | undefined {
    const following = this.#byPlaybackId.get(playbackId);
    if (!following) return undefined;
    const isOfSession = following.session?.sessionId === sessionId;
    const window = isOfSession && following.isWhole ? following.session?.give() : undefined;
    following.close();
    this.#byPlaybackId.delete(playbackId);
    return window;
  }

  #followingOf(followed: Followed): Following | undefined {
    const { memory, clock } = this.#settings;
    const { playbackId } = followed;
    const known = this.#byPlaybackId.get(playbackId);
    const isFull = memory.pagesInUse * PAGE_BYTES > MAX_WINDOW_BYTES;
    if (known || isFull || this.#byPlaybackId.size >= MAX_FOLLOWED) return known;
    const following = new Following(this.#settings, followed, this.#bySessionId, this.#past);
    this.#byPlaybackId.set(playbackId, following);
    if (!this.#timer) {
      this.#toldAt = clock.monotonic();
      this.#timer = clock.every(LOOK_MS, () => this.#look());
    }
    return following;
  }

  close(): void {
    this.#timer?.cancel();
    for (const following of this.#byPlaybackId.values()) following.close();
    this.#byPlaybackId.clear();
  }

  #look(): void {
    const now = this.#settings.clock.monotonic();
    if (now - this.#toldAt >= TELL_SENT_MS) {
      this.#toldAt = now;
      const untold = Array.from(this.#byPlaybackId.values(), (following) => following.untold).filter(isSomething);
      for (const ofNode of Map.groupBy(untold, ({ place }) => place.nodeId).values()) void this.#tellSent(ofNode);
    }
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

  /**
   * Tells a node of its sessions, whose figures are its own: of all at once, or of each where it does not know all, or no list. Never rejects: what
   * could not be told is told with the next.
   */
  async #tellSent(untold: readonly Untold[]): Promise<void> {
    const [first, second] = untold;
    if (!first) return;
    const answer = await this.#isTaken(first.place, second ? untold.map(({ sent }) => sent) : first.sent);
    if (answer) for (const { taken } of untold) taken();
    else if (answer === false && second) await Promise.all(untold.map((one) => this.#tellSent([one])));
  }

  /** Null without an answer. */
  async #isTaken(place: NodePlace, sent: ToldSent | readonly ToldSent[]): Promise<boolean | null> {
    const { clock, log, others } = this.#settings;
    const asked = new AbortController();
    const late = clock.after(TOLD_WITHIN_MS, () => asked.abort());
    try {
      const answer = await others.tell(place, "/sent", sent, asked.signal);
      answer.resume();
      return answer.statusCode === 204;
    } catch (error) {
      const { nodeId } = place;
      log.debug({ err: error, nodeId }, "could not tell the node that has streams what their viewers were sent");
      return null;
    } finally {
      late.cancel();
    }
  }
}

const isSomething = (untold: Untold | null): untold is Untold => untold !== null;

/** What a session's owner is to be told. */
interface Untold {
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
class Following implements HeldCopy {
  session: FollowedSession | null = null;
  readonly #settings: FollowedSessionsSettings;
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
  constructor(
    settings: FollowedSessionsSettings,
    followed: Followed,
    sessions: Map<string, FollowedSession>,
    past: Sent,
  ) {
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
  { memory, clock }: FollowedSessionsSettings,
): FollowedSession => new FollowedSession(message, memory, clock);
