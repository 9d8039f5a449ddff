import type { Way } from "./encoder.ts";

/**
 * A stream is live again so long after a fault, or after its encoder is back, in milliseconds: what guarantees.md says. Where an encoder does not notice
 * that nobody is there, it is back later than it knows.
 */
export const LIVE_WITHIN_MS: Readonly<Record<Way, number>> = { rtmp: 10_000, srt: 20_000, whip: 25_000, pull: 60_000 };
