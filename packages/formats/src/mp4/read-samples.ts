import { FormatError } from "../bits/index.ts";
import type { FragmentSample } from "./fragment.ts";
import {
  HEADER,
  MOOF,
  TFDT_SIZE,
  TFDT_TIME_AT,
  TFHD_AT,
  TFHD_DURATION_AT,
  TRUN,
  TRUN_COMPOSITION,
  TRUN_DURATION,
  TRUN_FLAGS,
  TRUN_HEADER,
  viewOf,
} from "./fragment-layout.ts";

/** ISO/IEC 14496-12 8.8.3.1: sample_is_non_sync_sample. */
const DEPENDENT = 0x10000;

/** Reads the samples of concatenated fragments written by this package. Throws `FormatError` for any other input. */
export function readSamples(fragments: Uint8Array): FragmentSample[] {
  const view = viewOf(fragments);
  const samples: FragmentSample[] = [];
  let at = 0;
  while (at < view.byteLength) {
    if (at + TFHD_AT + HEADER > view.byteLength || view.getUint32(at + 4) !== MOOF)
      throw new FormatError("a fragment written by Weir", at);
    const tfhdAt = at + TFHD_AT;
    const tfdtAt = tfhdAt + view.getUint32(tfhdAt);
    const trunAt = tfdtAt + TFDT_SIZE;
    const mediaAt = at + view.getUint32(at) + HEADER;
    if (mediaAt > view.byteLength || trunAt + TRUN_HEADER > mediaAt || view.getUint32(trunAt + 4) !== TRUN)
      throw new FormatError("a fragment written by Weir", tfhdAt);
    const flags = view.getUint32(trunAt + HEADER);
    // The default duration, used when the rows have none.
    let duration = view.getUint32(tfhdAt + TFHD_DURATION_AT);
    let decodeTime = Number(view.getBigUint64(tfdtAt + TFDT_TIME_AT));
    let row = trunAt + TRUN_HEADER;
    const next = (): number => {
      row += 4;
      return view.getUint32(row - 4);
    };
    let dataAt = mediaAt;
    while (row < mediaAt - HEADER) {
      if (flags & TRUN_DURATION) duration = next();
      const end = dataAt + next();
      const isIndependent = (flags & TRUN_FLAGS) === 0 || (next() & DEPENDENT) === 0;
      const time = decodeTime + (flags & TRUN_COMPOSITION ? next() : 0);
      samples.push({ time, decodeTime, duration, isIndependent, data: fragments.subarray(dataAt, end) });
      dataAt = end;
      decodeTime += duration;
    }
    at = mediaAt - HEADER + view.getUint32(mediaAt - HEADER);
  }
  return samples;
}
