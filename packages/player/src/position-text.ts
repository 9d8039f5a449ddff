const MINUTE = 60;
const HOUR = 3600;

const pad = (value: number): string => String(value).padStart(2, "0");

/** A position in a video: 66 s as `1:06`, 3666 s as `1:01:06`. */
export function positionText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(whole / MINUTE);
  const hours = whole >= HOUR ? `${Math.floor(whole / HOUR)}:${pad(minutes % 60)}` : String(minutes);
  return `${hours}:${pad(whole % MINUTE)}`;
}
