/** The quietest level on the meter, in decibels below full scale. */
const MIN_DB = -60;
/** The marks below the meter. */
export const SCALE_DB = [MIN_DB, -40, -20, 0] as const;
const LOOK_MS = 66;

/** Loudness is heard in decibels: half as loud is a tenth of the scale less. */
export const shareOfScale = (level: number): number =>
  level > 0 ? Math.max(0, 1 - (20 * Math.log10(level)) / MIN_DB) : 0;

/** Shows the loudness of the media on a meter, some 15 times a second until the signal aborts. */
export function meterAudio(media: MediaStream, meter: HTMLMeterElement, signal: AbortSignal): void {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(media).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    let loudest = 0;
    for (const sample of samples) loudest = Math.max(loudest, Math.abs(sample));
    meter.value = shareOfScale(Math.min(1, loudest));
  }, LOOK_MS);
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    void context.close();
  });
}
