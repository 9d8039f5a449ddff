import { FormatError } from "../bits/index.ts";

const MOOF = 0x6d6f6f66;
const TFDT = 0x74666474;
const HEADER = 8;
/** `mfhd` whole and the header of `traf`, before the `tfhd` of a fragment that `writeVideoFragment` or `writeAudioFragment` wrote. */
const BEFORE_TFHD = 16 + HEADER;
const VERSION_AND_FLAGS = 4;

/** Move whole fragments of ours earlier by `ticks` of their track, in place: rewrites each `tfdt` (ISO/IEC 14496-12 8.8.12). Throws `FormatError` for other bytes. */
export function moveFragmentsEarlier(fragments: Uint8Array, ticks: number): void {
  const view = new DataView(fragments.buffer, fragments.byteOffset, fragments.byteLength);
  for (let at = 0; at < view.byteLength; ) {
    const size = at + HEADER <= view.byteLength ? view.getUint32(at) : 0;
    if (size < HEADER || at + size > view.byteLength) throw new FormatError("a whole box", at);
    if (view.getUint32(at + 4) === MOOF) {
      const tfhd = at + HEADER + BEFORE_TFHD;
      const tfdt = tfhd + view.getUint32(tfhd);
      if (view.getUint32(tfdt + 4) !== TFDT) throw new FormatError("a tfdt box", tfdt);
      const time = tfdt + HEADER + VERSION_AND_FLAGS;
      view.setBigUint64(time, view.getBigUint64(time) - BigInt(ticks));
    }
    at += size;
  }
}
