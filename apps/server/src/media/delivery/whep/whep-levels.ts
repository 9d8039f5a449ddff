import type { Clock } from "../../../platform/clock.ts";
import type { PeerSource, WebrtcPeers } from "../../webrtc/webrtc-process.ts";
import type { MediaFrame } from "../../webrtc/webrtc-protocol.ts";
import type { QualityLevel } from "./viewer-quality.ts";
import { WhepRung } from "./whep-rung.ts";
import type { WhepSession } from "./whep-session.ts";

/** The level of all who have not had to go lower: the source itself, or what is made of it for WebRTC. */
export const BEST = "source";
/** A rung that has more than this share of the source's rate spares a viewer nothing. */
const LOWER_SHARE = 0.8;
const RATE_MS = 4_000;
/** Its last viewer gets the rung's pictures until the next keyframe of another level. */
const KEEP_RUNG_MS = 10_000;

export interface WhepLevelsSettings {
  readonly clock: Clock;
  readonly peers: WebrtcPeers;
  readonly session: WhepSession;
}

/** What WebRTC viewers of one session may get: the best level always, a rung of its ladder while somebody needs it. */
export class WhepLevels {
  readonly #settings: WhepLevelsSettings;
  readonly #best: PeerSource;
  readonly #rungs = new Map<string, WhepRung>();
  /** By the level's name. */
  readonly #viewers = new Map<string, number>();
  #bytes = 0;
  #since: number;
  /** Of the best level's pictures; 0 before it is known. */
  #bitsPerSecond = 0;

  constructor(settings: WhepLevelsSettings) {
    this.#settings = settings;
    this.#best = settings.peers.openSource();
    this.#since = settings.clock.monotonic();
  }

  /** Those that there are now, the best first. */
  get list(): readonly [QualityLevel, ...QualityLevel[]] {
    const most = LOWER_SHARE * this.#bitsPerSecond;
    const lower = this.#settings.session.pipeline.watchableRungs
      .map(({ id: name, bitrateBps: bitsPerSecond }) => ({ name, bitsPerSecond }))
      .filter(({ bitsPerSecond }) => bitsPerSecond <= most)
      .toSorted((a, b) => b.bitsPerSecond - a.bitsPerSecond);
    return [{ name: BEST, bitsPerSecond: this.#bitsPerSecond }, ...lower];
  }

  /** One more viewer of this level. The best one's media where the level has just gone. */
  enter(name: string): PeerSource {
    this.#viewers.set(name, this.#viewersOf(name) + 1);
    return this.#sourceOf(name);
  }

  leave(name: string): void {
    const left = this.#viewersOf(name) - 1;
    this.#viewers.set(name, left);
    if (left === 0 && this.#rungs.has(name)) this.#settings.clock.after(KEEP_RUNG_MS, () => this.#release(name));
  }

  /** One more frame of the best level. False where it was left out. */
  send(frame: MediaFrame): boolean {
    if (frame.kind === "audio") for (const rung of this.#rungs.values()) rung.sound(frame);
    else this.#measure(frame.data.length);
    const isTaken = this.#best.frame(frame);
    if (isTaken) this.#sent(BEST, frame.data.length);
    return isTaken;
  }

  close(): void {
    for (const rung of this.#rungs.values()) rung.close();
    this.#rungs.clear();
    this.#best.close();
  }

  #release(name: string): void {
    if (this.#viewersOf(name) > 0) return;
    this.#rungs.get(name)?.close();
    this.#rungs.delete(name);
  }

  #viewersOf(name: string): number {
    return this.#viewers.get(name) ?? 0;
  }

  #sent(name: string, bytes: number): void {
    this.#settings.session.bytesSent += bytes * this.#viewersOf(name);
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
    const open = this.#rungs.get(name);
    if (open) return open.source;
    const { peers, session } = this.#settings;
    const rung = session.pipeline.watchableRungs.find(({ id }) => id === name);
    if (!rung) return this.#best;
    const made = new WhepRung(rung, peers.openSource(), (bytes) => this.#sent(name, bytes));
    this.#rungs.set(name, made);
    return made.source;
  }
}
