import type { Clock } from "../../../platform/clock.ts";
import { RenditionFeed } from "../../feed/rendition-feed.ts";
import type { Feed } from "../../feed/session-feed.ts";
import type { Cut } from "../../timeline/timeline-sink.ts";
import type { PeerSource, WebrtcPeers } from "../../webrtc/webrtc-process.ts";
import type { MediaFrame, TimelineClock } from "../../webrtc/webrtc-protocol.ts";
import type { QualityRung } from "./viewer-quality.ts";
import { WhepRung } from "./whep-rung.ts";
import type { WhepSession } from "./whep-session.ts";

/** The best rung, of all viewers whose network carries it: the source itself, or its WebRTC rendition. */
export const BEST = "source";
/** A rung with more than this share of the source's bitrate saves too little to be offered. */
const LOWER_SHARE = 0.8;
const RATE_MS = 4_000;
/** How long a rung is kept after its last viewer: the viewer receives it until the next keyframe of its new rung. */
const KEEP_RUNG_MS = 10_000;

export interface WhepRungsSettings {
  readonly clock: Clock;
  readonly peers: WebrtcPeers;
  readonly session: WhepSession;
  /** The session's sound, as Opus. */
  readonly sound: Feed;
}

/** The rungs for the WebRTC viewers of one session: always the best one, which is the source, and those of its ladder while a viewer needs them. */
export class WhepRungs {
  readonly #settings: WhepRungsSettings;
  readonly #best: PeerSource;
  /** Those of the ladder that viewers receive now. */
  readonly #open = new Map<string, WhepRung>();
  /** Number of viewers, by rung name. */
  readonly #viewers = new Map<string, number>();
  #clock: TimelineClock | null = null;
  #bytes = 0;
  #since: number;
  /** Bitrate of the best rung's video; 0 until measured. */
  #bitsPerSecond = 0;

  constructor(settings: WhepRungsSettings) {
    this.#settings = settings;
    this.#best = settings.peers.openSource();
    this.#since = settings.clock.monotonic();
  }

  /** The available rungs, best first. */
  get list(): readonly [QualityRung, ...QualityRung[]] {
    const most = LOWER_SHARE * this.#bitsPerSecond;
    const lower = this.#settings.session.outputs.watchableRungs
      .map(({ id: name, bitrateBps: bitsPerSecond }) => ({ name, bitsPerSecond }))
      .filter(({ bitsPerSecond }) => bitsPerSecond <= most)
      .toSorted((a, b) => b.bitsPerSecond - a.bitsPerSecond);
    return [{ name: BEST, bitsPerSecond: this.#bitsPerSecond }, ...lower];
  }

  /** Adds a viewer to this rung. Returns the best rung's source if the rung has just disappeared. */
  enter(name: string): PeerSource {
    this.#viewers.set(name, this.#viewersOf(name) + 1);
    return this.#sourceOf(name);
  }

  leave(name: string): void {
    const left = this.#viewersOf(name) - 1;
    this.#viewers.set(name, left);
    if (left === 0 && this.#open.has(name)) this.#settings.clock.after(KEEP_RUNG_MS, () => this.#release(name));
  }

  /** Sends a frame of the best rung. False if it was dropped. */
  send(frame: MediaFrame): boolean {
    if (frame.kind === "video") this.#measure(frame.data.length);
    const isTaken = this.#best.frame(frame);
    if (isTaken) this.#sent(BEST, frame.data.length);
    return isTaken;
  }

  /** The timeline's wall clock, which the source and its rungs share. */
  cut({ ticks, programDateTimeMs: unixMs }: Cut): void {
    this.#clock = { ticks, unixMs };
    for (const source of this.#sources) source.setClock(this.#clock);
  }

  close(): void {
    for (const rung of this.#open.values()) rung.close();
    this.#open.clear();
    this.#best.close();
  }

  get #sources(): readonly PeerSource[] {
    return [this.#best, ...[...this.#open.values()].map(({ source }) => source)];
  }

  #release(name: string): void {
    if (this.#viewersOf(name) > 0) return;
    this.#open.get(name)?.close();
    this.#open.delete(name);
  }

  #viewersOf(name: string): number {
    return this.#viewers.get(name) ?? 0;
  }

  #sent(name: string, bytes: number): void {
    this.#settings.session.sent.bytes += bytes * this.#viewersOf(name);
  }

  #measure(bytes: number): void {
    this.#bytes += bytes;
    const now = this.#settings.clock.monotonic();
    const passedMs = now - this.#since;
    if (passedMs < RATE_MS) return;
    this.#bitsPerSecond = (this.#bytes * 8_000) / passedMs;
    this.#bytes = 0;
    this.#since = now;
  }

  #sourceOf(name: string): PeerSource {
    const known = this.#open.get(name);
    if (known) return known.source;
    const { peers, session, sound } = this.#settings;
    const rung = session.outputs.watchableRungs.find(({ id }) => id === name);
    if (!rung) return this.#best;
    const made = new WhepRung(new RenditionFeed(rung.feed, sound), peers.openSource(), (bytes) =>
      this.#sent(name, bytes),
    );
    this.#open.set(name, made);
    if (this.#clock) made.source.setClock(this.#clock);
    return made.source;
  }
}
