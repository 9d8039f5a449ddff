import type { Clock } from "../../platform/clock.ts";
import type { ListedRendition } from "../packaging/hls/live-multivariant.ts";
import { LivePlaylist } from "../packaging/hls/live-playlist.ts";
import { LiveRendition } from "../packaging/live-rendition.ts";
import { type InitSegment, LiveSegment, type SegmentPlace } from "../packaging/live-segment.ts";
import type { PartLimits } from "../packaging/part-target.ts";
import type { Track } from "../packet.ts";
import type { PageMemory } from "../page-memory.ts";
import { Sent } from "../sent.ts";
import type { OfferedRendition, RenditionBegin, SentPlace, WindowMessage } from "./window-messages.ts";
import { type FollowableSession, type FollowedPlace, offeredBy } from "./window-sender.ts";

/** Inits of one rendition that are remembered: a source that changes its format more often is closed. */
const MAX_INITS = 32;

/** A session that this node had. */
export type GivenSession = Pick<FollowableSession, "sessionId" | "playbackId" | "outputs">;

interface Copy {
  readonly rendition: LiveRendition;
  readonly playlist: LivePlaylist;
  readonly limits: { seconds: number | null; holdBackSeconds: number; targetSeconds: number };
  readonly inits: Map<string, InitSegment>;
}

/**
 * The live window of a session that another node has: the same names and bytes, written into ordinary renditions, so that lists and waits are made as
 * for a session of this node.
 */
export class FollowedSession {
  readonly sessionId: string;
  readonly playbackId: string;
  readonly sent = new Sent();
  /** Nobody goes back here: the owner has the rows. */
  readonly dvr = null;
  readonly isLeft = false;
  readonly #clock: Clock;
  readonly #memory: PageMemory;
  readonly #copies = new Map<string, Copy>();
  #offered: readonly OfferedRendition[] = [];
  #isWhole = false;
  #isFinished = false;
  #isGiven = false;

  constructor(
    { sessionId, playbackId }: Extract<WindowMessage, { kind: "session" }>,
    memory: PageMemory,
    clock: Clock,
  ) {
    this.sessionId = sessionId;
    this.playbackId = playbackId;
    this.#memory = memory;
    this.#clock = clock;
  }

  /** The copy of a session that this node had: it goes on with what is there. */
  static of({ sessionId, playbackId, outputs }: GivenSession, memory: PageMemory, clock: Clock): FollowedSession {
    const copy = new FollowedSession({ kind: "session", sessionId, playbackId }, memory, clock);
    copy.#adopt(outputs);
    return copy;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  get outputs(): this {
    return this;
  }

  /** The renditions that the owner offers, as far as their copies have begun. */
  get listed(): readonly ListedRendition[] {
    return this.#offered.flatMap(({ name, track, plannedBps, plannedFps }) => {
      const rendition = this.#copies.get(name)?.rendition;
      if (!rendition) return [];
      const planned = {
        ...(plannedBps !== undefined && { plannedBps }),
        ...(plannedFps !== undefined && { plannedFps }),
      };
      return [{ rendition, track, ...planned }];
    });
  }

  /**
   * It has all that its owner lists, so that nobody who comes from there sees numbers fall, and something of each rendition that viewers may choose: a
   * list without any is one that some players give up.
   */
  get isReady(): boolean {
    const { listed } = this;
    return this.#isWhole && listed.length > 0 && listed.every(({ rendition }) => rendition.newestPart !== null);
  }

  playlist(name: string): LivePlaylist | undefined {
    return this.#copies.get(name)?.playlist;
  }

  /** What this node has of each rendition. */
  get places(): ReadonlyMap<string, FollowedPlace> {
    const places = new Map<string, FollowedPlace>();
    for (const [name, { rendition }] of this.#copies) {
      const { open, listed } = rendition;
      const last = listed.at(-1);
      if (open) places.set(name, { msn: open.msn, parts: open.parts.length, isComplete: false });
      else if (last) places.set(name, { msn: last.msn, parts: last.parts.length, isComplete: true });
    }
    return places;
  }

  /** Keeps no `data` of the message. Throws for a message that does not fit what came before. */
  take(message: WindowMessage): void {
    if (message.kind === "rendition") return this.#begin(message.begin);
    if (message.kind === "offered") return this.#offer(message.renditions);
    if (message.kind === "end") return this.#end();
    if (message.kind === "whole") this.#isWhole = true;
    if (!("of" in message)) return;
    const copy = this.#copies.get(message.of);
    if (!copy) throw new RangeError(`a message of the unknown rendition ${message.of}`);
    const { rendition } = copy;
    switch (message.kind) {
      case "init":
        return addInit(copy, { ...message, bytes: Buffer.from(message.data) });
      case "begin":
        // What a lost owner did not complete is nobody's.
        rendition.dropOpen();
        return rendition.begin(new LiveSegment(placeOf(copy, message.place), this.#memory));
      case "part":
        return rendition.publish([message.data], message.timing);
      case "complete":
        if (rendition.open?.msn === message.msn) rendition.complete();
        return;
      case "gap":
        rendition.dropOpen();
        return rendition.gap(new LiveSegment(placeOf(copy, message.place), this.#memory, message.durationTicks));
      case "expect":
        return rendition.expect(message.msn);
    }
  }

  /** The renditions, which somebody else writes and disposes of from now on. */
  give(): ReadonlyMap<string, LiveRendition> {
    this.#isGiven = true;
    return new Map([...this.#copies].map(([name, { rendition }]) => [name, rendition]));
  }

  dispose(): void {
    if (this.#isGiven) return;
    for (const { rendition } of this.#copies.values()) rendition.dispose();
  }

  #begin({ name, discontinuitySequence, ...known }: RenditionBegin): void {
    if (this.#copies.has(name)) return;
    const limits = { seconds: null, holdBackSeconds: 0, targetSeconds: 2 };
    const target = {
      get seconds() {
        return limits.targetSeconds;
      },
    };
    this.#add(new LiveRendition(name, discontinuitySequence, target, this.#clock, known), limits);
  }

  #add(rendition: LiveRendition, limits: Copy["limits"]): void {
    const siblings = () => [...this.#copies.values()].map((copy) => copy.rendition);
    const playlist = new LivePlaylist(rendition, limits satisfies PartLimits, siblings);
    this.#copies.set(rendition.name, { rendition, playlist, limits, inits: new Map() });
  }

  #adopt(outputs: FollowableSession["outputs"]): void {
    for (const rendition of outputs.renditions) {
      const { seconds = null, holdBackSeconds = 0 } = outputs.playlist(rendition.name)?.partLimits ?? {};
      this.#add(rendition, { seconds, holdBackSeconds, targetSeconds: rendition.targetDuration });
    }
    this.#offered = offeredBy(outputs);
  }

  #offer(renditions: readonly OfferedRendition[]): void {
    this.#offered = renditions;
    for (const { name, partSeconds, holdBackSeconds, targetSeconds } of renditions)
      Object.assign(this.#copies.get(name)?.limits ?? {}, { seconds: partSeconds, holdBackSeconds, targetSeconds });
  }

  #end(): void {
    this.#isFinished = true;
    for (const { rendition } of this.#copies.values()) if (!rendition.hasEnded) rendition.end();
  }
}

function addInit({ inits }: Copy, { name, bytes, track, timescale }: InitSegment & { readonly track: Track }): void {
  if (inits.size >= MAX_INITS) inits.delete(inits.keys().next().value ?? "");
  inits.set(name, { name, bytes, track, timescale });
}

function placeOf({ inits, rendition }: Copy, { init, ...place }: SentPlace): SegmentPlace {
  if (init === null) return { ...place, init: null };
  const known = inits.get(init);
  if (!known) throw new RangeError(`a segment of ${rendition.name} without its init segment`);
  return { ...place, init: known };
}
