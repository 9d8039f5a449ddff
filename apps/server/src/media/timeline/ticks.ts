/**
 * Converts ticks between timescales, rounding to the nearest. Whole seconds are converted separately: after 24 days the product of 90 kHz ticks and
 * a sample rate would exceed the integers that a double represents exactly.
 */
export function rescale(ticks: number, from: number, to: number): number {
  const seconds = Math.floor(ticks / from);
  return seconds * to + Math.round(((ticks - seconds * from) * to) / from);
}

export function ticksToMs(ticks: number, timescale: number): number {
  return (ticks / timescale) * 1000;
}
