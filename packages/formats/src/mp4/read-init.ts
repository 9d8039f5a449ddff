import { FormatError } from "../bits/index.ts";

export interface InitDescription {
  /** The complete box of the only sample entry, including the decoder configuration. */
  readonly sampleEntry: Uint8Array;
  readonly timescale: number;
  /** Null for audio. */
  readonly picture: { readonly width: number; readonly height: number } | null;
}

const HEADER = 8;
/** In `mdhd`: after version, flags, creation time and modification time. */
const TIMESCALE_AT = 12;
/** In `stsd`: after version, flags and entry count. */
const ENTRIES_AT = 8;
/** In `hdlr`: after version, flags and a reserved field. */
const HANDLER_AT = 8;
/** In a visual sample entry. */
const WIDTH_AT = 32;

/** Reads the track of an init segment written by `initSegment`. Throws `FormatError` for any other input. */
export function readInit(init: Uint8Array): InitDescription {
  const media = find(find(find(init, "moov"), "trak"), "mdia");
  const header = find(media, "mdhd");
  const descriptions = find(find(find(media, "minf"), "stbl"), "stsd");
  const entry = descriptions.subarray(ENTRIES_AT);
  const [first = HEADER] = sizes(entry);
  const handler = find(media, "hdlr").subarray(HANDLER_AT, HANDLER_AT + 4);
  const isPicture = String.fromCharCode(...handler) === "vide";
  const size = new DataView(entry.buffer, entry.byteOffset, entry.byteLength);
  return {
    picture: isPicture ? { width: size.getUint16(WIDTH_AT), height: size.getUint16(WIDTH_AT + 2) } : null,
    sampleEntry: new Uint8Array(entry.subarray(0, first)),
    timescale: new DataView(header.buffer, header.byteOffset).getUint32(TIMESCALE_AT),
  };
}

/** The body of the first box of this type. */
function find(boxes: Uint8Array, type: string): Uint8Array {
  let at = 0;
  for (const size of sizes(boxes)) {
    const name = String.fromCharCode(...boxes.subarray(at + 4, at + HEADER));
    if (name === type) return boxes.subarray(at + HEADER, at + size);
    at += size;
  }
  throw new FormatError(`a box ${type}`, at);
}

function* sizes(boxes: Uint8Array): Generator<number, void> {
  const view = new DataView(boxes.buffer, boxes.byteOffset, boxes.byteLength);
  for (let at = 0; at < boxes.byteLength; ) {
    const size = at + HEADER <= boxes.byteLength ? view.getUint32(at) : 0;
    if (size < HEADER || at + size > boxes.byteLength) throw new FormatError("a whole box", at);
    yield size;
    at += size;
  }
}
