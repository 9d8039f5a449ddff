/** As in asm-generic/mman-common.h. */
const MADV_DONTNEED = 4;

/** Give the memory of whole pages back to the system at once. The bytes stay usable, and are zero. */
export type ReleasePages = (bytes: Uint8Array) => void;

/** `madvise(2)`, which Node has no call for. Null where it cannot be called, or means something else: then memory stays until it is used again. */
export async function loadPageRelease(importKoffi = () => import("koffi")): Promise<ReleasePages | null> {
  if (process.platform !== "linux") return null;
  const prototype = "int madvise(void *start, size_t length, int advice)";
  const madvise = await importKoffi()
    .then((koffi) => koffi.load(null).func(prototype))
    .catch(() => null);
  return madvise && ((bytes) => madvise(bytes, bytes.byteLength, MADV_DONTNEED));
}
