const MINUTE = 60;
const HOUR = 3600;

const pad = (value: number): string => String(value).padStart(2, "0");

/** 2530 s as `00:42:10`, for what counts up while one looks. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${pad(Math.floor(whole / HOUR))}:${pad(Math.floor((whole % HOUR) / MINUTE))}:${pad(whole % MINUTE)}`;
}

/** 2530 s as `42 min 10 s`, 7200 s as `2 h`: the two largest units, without zeros. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole} s`;
  const [large, small] =
    whole < HOUR
      ? [`${Math.floor(whole / MINUTE)} min`, `${whole % MINUTE} s`]
      : [`${Math.floor(whole / HOUR)} h`, `${Math.floor((whole % HOUR) / MINUTE)} min`];
  return small.startsWith("0") ? large : `${large} ${small}`;
}

/** Bytes per second as bits per second, the way bitrates are spoken of: `2.1 Mbit/s`. */
export function bitrateText(bytesPerSecond: number): string {
  const bits = bytesPerSecond * 8;
  if (bits < 1e6) return `${Math.round(bits / 1e3)} kbit/s`;
  return `${(bits / 1e6).toFixed(bits < 1e7 ? 1 : 0)} Mbit/s`;
}

/** Decimal units, as storage is sold: `1.4 GB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1e3)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** `1,234`. Empty for a fraction, such as a chart may have between two marks. */
export function countText(count: number): string {
  return Number.isInteger(count) ? whole.format(count) : "";
}

/** `29.97 fps`, without digits that say nothing. */
export function frameRateText(framesPerSecond: number): string {
  return `${Number(framesPerSecond.toFixed(2))} fps`;
}

/** How many times as fast as it plays: `12×`, `1.4×`, `0.85×`. */
export function ratioText(ratio: number): string {
  return `${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(ratio < 1 ? 2 : 1)}×`;
}

/** Milliseconds as seconds: `2.0 s`. */
export function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** A share of one as `99 %`. It says 100 and 0 only where they are exact. */
export function shareText(share: number): string {
  const percent = Math.round(share * 100);
  if (percent === 100 && share < 1) return "> 99\u00a0%";
  return percent === 0 && share > 0 ? "< 1\u00a0%" : `${percent}\u00a0%`;
}
