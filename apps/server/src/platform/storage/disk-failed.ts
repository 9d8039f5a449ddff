/** A disk that takes no more bytes: that is not the fault of what was to be written, and passes when somebody mends it. A file that cannot be read (EIO) may stay so. */
const TAKES_NOTHING = new Set(["ENOSPC", "EDQUOT", "EROFS"]);

/** There is no room for this on a disk, or what is left of it is for what must not stop. */
export class NoRoom extends Error {
  readonly code = "ENOSPC";
}

/** Whether a call failed because its disk is full or read-only. */
export function isDiskAway(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && TAKES_NOTHING.has(code);
}
