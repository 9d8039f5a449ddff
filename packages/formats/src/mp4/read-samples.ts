import { FormatError } from "../bits/index.ts";
import type { FragmentSample } from "./fragment.ts";

const MOOF = 0x6d6f6f66;
const TRUN = 0x7472756e;
const HEADER = 8;
/** Of a fragment that `writeAudioFragment` wrote: `moof` has `mfhd`, then `traf` with `tfhd`, `tfdt` and `trun`. */
const TFHD_AT = 32;
const DURATION_AT = 16;
const TIME_AT = 12;
const TFDT_SIZE = 20;
const TRUN_HEADER = 20;
const TRUN_DURATION = 0x100;

/** The samples of fragments of sound of ours, one fragment behind the other. Throws `FormatError` for any other. */
export function readAudioSamples(fragments: Uint8Array): FragmentSample[] {
  const view = new DataView(fragments.buffer, fragments.byteOffset, fragments.byteLength);
  const samples: FragmentSample[] = [];
  let at = 0;
  while (at < view.byteLength) {
    if (at + TFHD_AT + HEADER > view.byteLength || view.getUint32(at + 4) !== MOOF)
      throw new FormatError("a fragment of ours", at);
    const tfhdAt = at + TFHD_AT;
    const tfdtAt = tfhdAt + view.getUint32(tfhdAt);
    const trunAt = tfdtAt + TFDT_SIZE;
    const mediaAt = at + view.getUint32(at) + HEADER;
    if (mediaAt > view.byteLength || trunAt + TRUN_HEADER > mediaAt || view.getUint32(trunAt + 4) !== TRUN)
      throw new FormatError("a fragment of ours", tfhdAt);
    const isUneven = (view.getUint32(trunAt + HEADER) & TRUN_DURATION) !== 0;
    let duration = view.getUint32(tfhdAt + DURATION_AT);
    let time = Number(view.getBigUint64(tfdtAt + TIME_AT));
    let row = trunAt + TRUN_HEADER;
    let dataAt = mediaAt;
    for (; row < mediaAt - HEADER; row += 4) {
      if (isUneven) {
        duration = view.getUint32(row);
        row += 4;
      }
      const data = fragments.subarray(dataAt, dataAt + view.getUint32(row));
      samples.push({ time, decodeTime: time, duration, isIndependent: true, data });
      dataAt += data.byteLength;
      time += duration;
    }
    at = mediaAt - HEADER + view.getUint32(mediaAt - HEADER);
  }
  return samples;
}
