/** For keyframes every 2 s, and for longer intervals. */
const SHORT_SECONDS = 2;
const LONG_SECONDS = 4;
/** Segments of this length still round to the shorter target. */
const LONGEST_SHORT_GOP_SECONDS = 2.4;

/**
 * EXT-X-TARGETDURATION of one timeline: no segment's duration rounds to more seconds. Players without low latency stay three target durations behind
 * the live edge. It must not change during a playlist's lifetime, so it is decided before the first playlist: from the session's earlier playlists,
 * from what the stream's last session would have required, or from the encoder's settings; 2 s if none is known.
 */
export class TargetDuration {
  #seconds: number | null;
  readonly #lastSession: number | null;

  /** `fixed` is the value in the session's earlier playlists; `lastSession` is what the stream's last session would have required. */
  constructor({ fixed, lastSession }: { readonly fixed: number | null; readonly lastSession: number | null }) {
    this.#seconds = fixed;
    this.#lastSession = lastSession;
  }

  get seconds(): number {
    return this.#seconds ?? SHORT_SECONDS;
  }

  /** Decides the value, at the first picture. `encoderGopSeconds` is the encoder's maximum keyframe interval; null if unknown. */
  decide(encoderGopSeconds: number | null): void {
    if (this.#seconds !== null) return;
    const byEncoder = encoderGopSeconds === null ? LONG_SECONDS : TargetDuration.neededFor(encoderGopSeconds);
    const isUnknown = this.#lastSession === null && encoderGopSeconds === null;
    this.#seconds = isUnknown ? SHORT_SECONDS : Math.min(byEncoder, this.#lastSession ?? LONG_SECONDS);
  }

  static neededFor(gopSeconds: number): number {
    return gopSeconds <= LONGEST_SHORT_GOP_SECONDS ? SHORT_SECONDS : LONG_SECONDS;
  }
}
