import { type NalPacking, PictureAssembler, type RtpPicture } from "./picture-assembler.ts";

const AGGREGATION = 48;
const FRAGMENTATION = 49;

const PACKING: NalPacking = {
  kindOf(payload) {
    const type = ((payload[0] ?? 0) >> 1) & 0x3f;
    if (type < AGGREGATION) return payload.length > 1 ? "unit" : "unknown";
    return type === AGGREGATION ? "aggregate" : type === FRAGMENTATION ? "fragment" : "unknown";
  },
  aggregateHead: 2,
  fragmentHead: 3,
  unitHead: ([first = 0, second = 0, header = 0]) => Uint8Array.of((first & 0x81) | ((header & 0x3f) << 1), second),
};

/** Assembles HEVC pictures (RFC 7798: single NAL units, aggregation and fragmentation units) without decoding order numbers. */
export class HevcDepacketizer extends PictureAssembler {
  constructor(onPicture: (picture: RtpPicture) => void) {
    super(PACKING, onPicture);
  }
}
