const SEI = 6;
const USER_DATA_UNREGISTERED = 5;
/** x264 writes its settings into the first SEI messages of the first picture, in less than a kilobyte. */
const MAX_READ_BYTES = 4096;

/**
 * The maximum keyframe interval in frames, from the settings that x264 wrote into an access unit (4-byte length-prefixed NAL units). Infinity if
 * x264 inserts no keyframes by itself; null if the access unit has no x264 settings.
 */
export function x264KeyframeInterval(accessUnit: Uint8Array): number | null {
  const view = new DataView(accessUnit.buffer, accessUnit.byteOffset, accessUnit.byteLength);
  for (let offset = 0; offset + 6 < accessUnit.length; offset += 4 + view.getUint32(offset)) {
    const isSei = ((accessUnit[offset + 4] ?? 0) & 0x1f) === SEI && accessUnit[offset + 5] === USER_DATA_UNREGISTERED;
    if (!isSei) continue;
    const end = Math.min(offset + 4 + view.getUint32(offset), offset + MAX_READ_BYTES);
    const text = String.fromCharCode(...accessUnit.subarray(offset + 6, end));
    if (!text.includes("x264 - core")) continue;
    const [, interval] = / keyint=(\d{1,9}|infinite)\b/.exec(text) ?? [];
    if (interval !== undefined) return interval === "infinite" ? Number.POSITIVE_INFINITY : Number(interval);
  }
  return null;
}
