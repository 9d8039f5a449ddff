import type { Timer } from "../../platform/clock.ts";
import type { NodePlace, OtherNodes } from "../../platform/cluster/index.ts";
import { sleep } from "../../platform/retry.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import { PAGE_BYTES } from "../page-memory.ts";
import { Sent } from "../sent.ts";
import type { FollowedSession } from "./followed-session.ts";
import {
  type Followed,
  Following,
  type FollowingSettings,
  type HeldCopy,
  type ToldSent,
  type Untold,
} from "./following.ts";

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

export interface FollowedSessionsSettings extends FollowingSettings {
  readonly others: Pick<OtherNodes, "read" | "tell" | "placeOf">;
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
