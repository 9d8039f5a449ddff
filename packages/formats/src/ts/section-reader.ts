import { crc32 } from "./ts-crc.ts";

/** table_id and section_length. */
const HEAD_BYTES = 3;
/** A PAT or PMT section has at most 1021 bytes after its length (ISO/IEC 13818-1 2.4.4.3, 2.4.4.8). */
const MAX_SECTION_BYTES = HEAD_BYTES + 1021;
const STUFFING = 0xff;

/** Collects the sections of one PID. Reports each section that is whole, applies now and differs from the one before. */
export class SectionReader {
  readonly #section: (section: Uint8Array) => void;
  readonly #bytes = new Uint8Array(MAX_SECTION_BYTES);
  #length = 0;
  #isOpen = false;
  #newest = new Uint8Array(0);

  constructor(section: (section: Uint8Array) => void) {
    this.#section = section;
  }

  push(bytes: Uint8Array, start: number, end: number, isStart: boolean): void {
    if (!isStart) return this.#append(bytes, start, end);
    // pointer_field: bytes of the section before.
    const first = start + 1 + (bytes[start] ?? 0);
    this.#append(bytes, start + 1, Math.min(first, end));
    // Several sections may start in one packet.
    for (let at = first; at < end && bytes[at] !== STUFFING; ) {
      this.#isOpen = true;
      this.#length = 0;
      this.#append(bytes, at, end);
      if (this.#isOpen) return;
      at += this.#length;
    }
  }

  lost(): void {
    this.#isOpen = false;
  }

  #append(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end && this.#isOpen; at++) {
      this.#bytes[this.#length++] = bytes[at] ?? 0;
      if (this.#length < HEAD_BYTES) continue;
      const whole = HEAD_BYTES + ((((this.#bytes[1] ?? 0) & 0x0f) << 8) | (this.#bytes[2] ?? 0));
      if (whole > MAX_SECTION_BYTES || this.#length === whole) this.#isOpen = false;
      if (this.#length === whole) this.#complete(this.#bytes.subarray(0, whole));
    }
  }

  #complete(section: Uint8Array): void {
    // current_next_indicator in byte 5: a section of a table that does not apply yet has 0.
    if (section.length < 12 || ((section[5] ?? 0) & 1) === 0 || crc32(section) !== 0) return;
    if (section.length === this.#newest.length && section.every((byte, at) => byte === this.#newest[at])) return;
    this.#newest = section.slice();
    this.#section(this.#newest);
  }
}
