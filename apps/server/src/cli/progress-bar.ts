/** The part of a terminal that a bar needs. */
export interface ProgressTerminal {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const BAR = 30;
const LONGEST_LABEL = 30;

/** A line with a bar, drawn over itself: on a terminal only, so that logs and pipes stay readable. */
export class ProgressBar {
  readonly #out: ProgressTerminal;
  #drawn = "";

  constructor(out: ProgressTerminal) {
    this.#out = out;
  }

  /** `fraction` from 0 to 1. */
  show(label: string, fraction: number): void {
    if (this.#out.isTTY !== true) return;
    this.#draw(barOf(label, fraction));
  }

  /** What has no known end. */
  count(label: string, done: number): void {
    if (this.#out.isTTY === true) this.#draw(done === 0 ? label : `${label}  ${done}`);
  }

  #draw(text: string): void {
    const line = text.slice(0, (this.#out.columns ?? 80) - 1);
    if (line === this.#drawn) return;
    this.#drawn = line;
    this.#out.write(`\r\x1b[K${line}`);
  }

  /** Removes the line, for what is printed next. */
  clear(): void {
    if (this.#drawn === "") return;
    this.#drawn = "";
    this.#out.write("\r\x1b[K");
  }
}

/** `video.mp4  ###########-------------------  37 %` */
export function barOf(label: string, fraction: number): string {
  const share = Math.min(1, Math.max(0, fraction));
  const full = Math.round(share * BAR);
  const name = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label;
  return `${name}  ${"#".repeat(full)}${"-".repeat(BAR - full)}  ${String(Math.floor(share * 100)).padStart(3)} %`;
}
