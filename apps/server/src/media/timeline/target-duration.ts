/** For keyframes every 2 s, and for those that come further apart. */
const SHORT_SECONDS = 2;
const LONG_SECONDS = 4;
/** Segments of this length still round to the shorter target. */
const LONGEST_SHORT_GOP_SECONDS = 2.4;

/**
 * EXT-X-TARGETDURATION of one timeline: seconds that no segment's duration rounds above. Players that are not of low latency keep three of
 * them behind the live edge. It may not change while a playlist lives, so it is decided before the first: by where the session stood
 * already, by what the stream's last session would have needed, and by the encoder's own settings; 2 s where nothing is known.
 */
export class TargetDuration {
  #seconds: number | null;
  readonly #lastSession: number | null;

  /** `fixed` is what the session's playlists said before; `lastSession` what the stream's last session would have needed. */
  constructor({ fixed, lastSession }: { readonly fixed: number | null; readonly lastSession: number | null }) {
    this.#seconds = fixed;
    this.#lastSession = lastSession;
  }

  get seconds(): number {
    return this.#seconds ?? SHORT_SECONDS;
  }

  /** The first picture is there. `encoderGopSeconds` is the longest way between keyframes by the encoder's settings; null where it does not tell. */
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
