/** A disk that takes no more bytes, or fails: that is not the fault of what was to be written, and passes when somebody mends it. */
const OF_THE_DISK = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO"]);

/** Leaves the rest of a disk to what must not stop. */
export class NoRoom extends Error {
  readonly code = "ENOSPC";
}

/** Whether a call failed because its disk is full, read-only or broken. */
export function isDiskFailure(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && OF_THE_DISK.has(code);
}
