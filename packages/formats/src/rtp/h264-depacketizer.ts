import { type NalPacking, PictureAssembler, type RtpPicture } from "./picture-assembler.ts";

const STAP_A = 24;
const FU_A = 28;

const PACKING: NalPacking = {
  kindOf(payload) {
    const type = (payload[0] ?? 0) & 0x1f;
    if (type >= 1 && type < STAP_A) return "unit";
    return type === STAP_A ? "aggregate" : type === FU_A ? "fragment" : "unknown";
  },
  aggregateHead: 1,
  fragmentHead: 2,
  unitHead: ([indicator = 0, header = 0]) => Uint8Array.of((indicator & 0xe0) | (header & 0x1f)),
};

/** Assembles H.264 pictures (RFC 6184, packetization modes 0 and 1: single NAL units, STAP-A, FU-A). */
export class H264Depacketizer extends PictureAssembler {
  constructor(onPicture: (picture: RtpPicture) => void) {
    super(PACKING, onPicture);
  }
}
