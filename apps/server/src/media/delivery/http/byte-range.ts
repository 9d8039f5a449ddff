import type { ByteRange } from "../../../platform/storage/object-store.ts";

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Parses the single range of a `Range` header (RFC 9110 14.1.2) for content of `size` bytes. Null means send everything: no header, another unit, or
 * several ranges. `unsatisfiable` means 416.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null | "unsatisfiable" {
  if (header === undefined || !header.startsWith("bytes=") || header.includes(",")) return null;
  const match = RANGE.exec(header);
  if (!match) return "unsatisfiable";
  const [, first = "", last = ""] = match;
  if (first === "") {
    const suffix = Number(last);
    return last === "" || suffix === 0 || size === 0
      ? "unsatisfiable"
      : { start: Math.max(0, size - suffix), end: size - 1 };
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  return start >= size || end < start ? "unsatisfiable" : { start, end };
}
