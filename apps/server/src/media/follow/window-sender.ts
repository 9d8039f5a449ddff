import type { Writable } from "node:stream";
import { onceClosed } from "../../platform/http/once-closed.ts";
import type { ListedRendition } from "../packaging/hls/live-multivariant.ts";
import type { LivePlaylist } from "../packaging/hls/live-playlist.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import type { LivePart, LiveSegment } from "../packaging/live-segment.ts";
import { type OfferedRendition, partHead, type SentPlace, type WindowMessage, windowFrame } from "./window-messages.ts";

/** A session whose live window other nodes copy. */
export interface FollowableSession {
  readonly sessionId: string;
  readonly playbackId: string;
  readonly isFinished: boolean;
  readonly isLeft: boolean;
  /** It was left, and its renditions have all that they get. */
  readonly isWhole: boolean;
  /** Resolves when they do, of a session that was left. */
  whole(): Promise<void>;
  readonly outputs: {
    readonly listed: readonly ListedRendition[];
    readonly renditions: readonly LiveRendition[];
    playlist(name: string): LivePlaylist | undefined;
  };
}

/** How much of a rendition a follower has: `parts` of the segment `msn`, and its end if it `isComplete`. */
export interface FollowedPlace {
  readonly msn: number;
  readonly parts: number;
  readonly isComplete: boolean;
}

interface SentRendition {
  readonly rendition: LiveRendition;
  place: FollowedPlace | null;
  readonly inits: Set<string>;
  expected: number | null;
  readonly unsubscribe: () => void;
}

/**
 * Tells a node the live window of a session, and each part as soon as it is published. It reads the window from where the node is, and stops while the
 * node takes nothing: so a slow one costs the owner no more than its socket's buffer, and goes on with what the window still has.
 */
export class WindowSender {
  readonly #session: FollowableSession;
  readonly #to: Writable;
  readonly #from: ReadonlyMap<string, FollowedPlace>;
  readonly #sent = new Map<LiveRendition, SentRendition>();
  #offered: readonly OfferedRendition[] = [];
  /** Seldom looked at: at each beat, and after the begin of a segment. */
  #mayOfferAnew = true;
  #hasWritten = false;
  #hasToldWhole = false;
  #isDue = false;
  #isBlocked = false;
  #isOver = false;
  /** Of parts that the socket has not taken: it forgets them where it is destroyed. */
  readonly #untaken = new Set<() => void>();

  constructor(session: FollowableSession, to: Writable, from: ReadonlyMap<string, FollowedPlace>) {
    this.#session = session;
    this.#to = to;
    this.#from = from;
    const { sessionId, playbackId } = session;
    this.#write({ kind: "session", sessionId, playbackId });
    to.on("drain", () => {
      this.#isBlocked = false;
      this.#tell();
    });
    this.#tell();
    // Its next owner waits for the end.
    if (session.isLeft && !this.#isOver) void session.whole().then(() => this.#tellSoon());
    onceClosed(to, () => {
      this.#close();
      for (const taken of this.#untaken) taken();
    });
  }

  /** To be called every half second, so that silence means that this node is away. */
  beat(): void {
    if (this.#isOver) return;
    if (!this.#hasWritten && !this.#isBlocked) this.#write({ kind: "beat" });
    this.#hasWritten = false;
    // Renditions come and go without a change of another.
    this.#mayOfferAnew = true;
    this.#tell();
  }

  /** Each write wakes the node: the end of a segment, the number of the next and the sound come one after the other in one turn of the event loop. */
  #tellSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#tell();
    });
  }

  /** All that the node lacks. What is written in one turn of the event loop goes to the socket in one call. */
  #tell(): void {
    if (this.#isBlocked || this.#isOver) return;
    const { outputs, isWhole } = this.#session;
    for (const rendition of outputs.renditions) if (!this.#sent.has(rendition)) this.#add(rendition);
    if (this.#mayOfferAnew) this.#offer();
    for (const sent of this.#sent.values()) {
      this.#advance(sent);
      if (this.#isBlocked) return;
    }
    if (this.#mayOfferAnew) this.#offer();
    this.#whole();
    if (isWhole) return this.#finish({ kind: "moved" });
    const areOver = this.#sent.size > 0 && [...this.#sent.keys()].every(({ hasEnded }) => hasEnded);
    if (areOver || this.#session.isFinished) this.#finish({ kind: "end" });
  }

  /** A session that has just begun here has no renditions yet, but perhaps those of its owner before. */
  #whole(): void {
    if (this.#hasToldWhole || this.#sent.size === 0) return;
    this.#hasToldWhole = true;
    this.#write({ kind: "whole" });
  }

  #add(rendition: LiveRendition): void {
    const { name, discontinuitySequence, firstMsn, peakBps, frameRate } = rendition;
    const place = this.#from.get(name) ?? null;
    this.#write({ kind: "rendition", begin: { name, discontinuitySequence, firstMsn, peakBps, frameRate } });
    const unsubscribe = rendition.onChange(() => this.#tellSoon());
    this.#sent.set(rendition, { rendition, place, inits: new Set(), expected: null, unsubscribe });
  }

  /** Only when it has changed. */
  #offer(): void {
    this.#mayOfferAnew = false;
    const renditions = offeredBy(this.#session.outputs);
    const before = this.#offered;
    if (renditions.length === before.length && renditions.every((offered, nth) => isSame(offered, before[nth]))) return;
    this.#offered = renditions;
    this.#write({ kind: "offered", renditions });
  }

  #advance(sent: SentRendition): void {
    const { rendition } = sent;
    for (let segment = nextOf(sent); segment && !this.#isBlocked; segment = nextOf(sent)) this.#segment(sent, segment);
    const { nextPart } = rendition;
    const open = begunIn(rendition);
    const expected = open || !nextPart ? null : nextPart.msn;
    if (this.#isBlocked || expected === sent.expected) return;
    sent.expected = expected;
    if (!open) this.#write({ kind: "expect", of: rendition.name, msn: expected });
  }

  /** What the node lacks of it. */
  #segment(sent: SentRendition, segment: LiveSegment): void {
    const { rendition, place } = sent;
    const { name: of } = rendition;
    const { msn } = segment;
    if (segment.init === null) {
      this.#write({ kind: "gap", of, place: placeOf(segment), durationTicks: segment.durationTicks });
      sent.place = { msn, parts: 0, isComplete: true };
      return;
    }
    const isBegun = place?.msn === msn;
    if (!isBegun) {
      this.#init(sent, segment);
      this.#write({ kind: "begin", of, place: placeOf(segment) });
      this.#mayOfferAnew = true;
    }
    const { parts } = segment;
    for (const part of isBegun ? parts.slice(place.parts) : parts) this.#part(of, part, segment);
    const isComplete = segment !== rendition.open;
    if (isComplete) this.#write({ kind: "complete", of, msn });
    sent.place = { msn, parts: parts.length, isComplete };
  }

  /** Its bytes go from the window to the socket, without a copy: the segment's memory is kept until the socket has taken them. */
  #part(of: string, part: LivePart, segment: LiveSegment): void {
    const { views, byteLength } = part;
    this.#send(partHead(of, part, byteLength));
    segment.retain();
    const taken = (): void => {
      if (this.#untaken.delete(taken)) segment.release();
    };
    this.#untaken.add(taken);
    const last = views.length - 1;
    for (const [nth, view] of views.entries()) this.#send(view, nth === last ? taken : undefined);
  }

  #init({ rendition, inits }: SentRendition, { init }: LiveSegment): void {
    if (!init || inits.has(init.name)) return;
    inits.add(init.name);
    const { name, track, timescale, bytes } = init;
    this.#write({ kind: "init", of: rendition.name, name, track, timescale }, [bytes]);
  }

  #write(message: Parameters<typeof windowFrame>[0], data?: readonly Uint8Array[]): void {
    this.#send(windowFrame(message, data));
  }

  #send(bytes: Uint8Array, onTaken?: () => void): void {
    this.#hasWritten = true;
    if (!this.#to.write(bytes, onTaken)) this.#isBlocked = true;
  }

  #finish(message: Extract<WindowMessage, { kind: "end" | "moved" }>): void {
    this.#write(message);
    this.#close();
    this.#to.end();
  }

  #close(): void {
    this.#isOver = true;
    for (const { unsubscribe } of this.#sent.values()) unsubscribe();
    this.#sent.clear();
  }
}

/** What viewers may choose from. */
export function offeredBy(outputs: FollowableSession["outputs"]): OfferedRendition[] {
  return outputs.listed.map(({ rendition, ...listed }) => {
    const { seconds = null, holdBackSeconds = 0 } = outputs.playlist(rendition.name)?.partLimits ?? {};
    const target = { targetSeconds: rendition.targetDuration, partSeconds: seconds, holdBackSeconds };
    return { name: rendition.name, ...listed, ...target };
  });
}

const OFFERED = ["name", "plannedBps", "plannedFps", "targetSeconds", "partSeconds", "holdBackSeconds"] as const;

/** Whether it says the same to viewers. */
function isSame(offered: OfferedRendition, before: OfferedRendition | undefined): boolean {
  if (offered.track.codecString !== before?.track.codecString) return false;
  return OFFERED.every((field) => offered[field] === before[field]);
}

/** The open segment, which is told with its first part. */
function begunIn({ open }: LiveRendition): LiveSegment | null {
  return open && open.parts.length > 0 ? open : null;
}

/** The segment of which the node lacks something; undefined if it has all. */
function nextOf({ rendition, place }: SentRendition): LiveSegment | undefined {
  const { listed, open } = rendition;
  if (place && !place.isComplete) {
    const current = rendition.segment(place.msn);
    if (current && (current !== open || current.parts.length > place.parts)) return current;
    // Of a predecessor on another node, which did not complete it.
    if (current === open && current) return undefined;
  }
  const last = place?.msn ?? 0;
  const begun = begunIn(rendition);
  // Those that left the list are still there for a while.
  const next = place && rendition.segment(last + 1);
  if (next && (next !== open || begun)) return next;
  return listed.find(({ msn }) => msn > last) ?? (begun && begun.msn > last ? begun : undefined);
}

function placeOf({
  init,
  msn,
  timescale,
  startTicks,
  programDateTimeMs,
  discontinuity,
  isSlate,
}: LiveSegment): SentPlace {
  const place = { msn, timescale, startTicks, programDateTimeMs, discontinuity, init: init?.name ?? null };
  return isSlate ? { ...place, isSlate } : place;
}
