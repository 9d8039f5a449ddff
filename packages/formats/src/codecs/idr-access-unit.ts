const AVC_IDR = 5;
const HEVC_IDR_W_RADL = 19;
const HEVC_IDR_N_LP = 20;

/**
 * True for an access unit at which decoding can start and whose successors reference nothing before it: an IDR picture of AVC or HEVC (4-byte
 * length-prefixed NAL units), or an AV1 temporal unit with a sequence header and a shown key frame. False for malformed data. Runs for every packet,
 * so it reads headers only and allocates nothing.
 */
export function isIdrAccessUnit(codec: "avc" | "hevc" | "av1", data: Uint8Array): boolean {
  return codec === "av1" ? isAv1RandomAccess(data) : isIdrPicture(codec, data);
}

function isIdrPicture(codec: "avc" | "hevc", data: Uint8Array): boolean {
  for (let offset = 0; offset + 4 < data.length; ) {
    const header = data[offset + 4] ?? 0;
    // All slices of a picture have the same type, so the first one decides. Slices are AVC types 1 to 5 and HEVC types 0 to 31.
    if (codec === "avc") {
      const type = header & 0x1f;
      if (type >= 1 && type <= 5) return type === AVC_IDR;
    } else {
      const type = (header >> 1) & 0x3f;
      if (type < 32) return type === HEVC_IDR_W_RADL || type === HEVC_IDR_N_LP;
    }
    offset += 4 + uint32(data, offset);
  }
  return false;
}

function uint32(data: Uint8Array, offset: number): number {
  const high = ((data[offset] ?? 0) << 8) | (data[offset + 1] ?? 0);
  return high * 65_536 + (((data[offset + 2] ?? 0) << 8) | (data[offset + 3] ?? 0));
}

const OBU_SEQUENCE_HEADER = 1;
const OBU_FRAME_HEADER = 3;
const OBU_FRAME = 6;

/** AV1 5.3 (OBU header and size) and the first bits of 5.9.2 (frame header). */
function isAv1RandomAccess(data: Uint8Array): boolean {
  let sawSequenceHeader = false;
  let reducedHeader = false;
  for (let offset = 0; offset < data.length; ) {
    const header = data[offset] ?? 0;
    const type = (header >> 3) & 15;
    offset += header & 4 ? 2 : 1;
    let size = data.length - offset;
    if (header & 2) {
      size = 0;
      for (let scale = 1; scale <= 2 ** 28; scale *= 128) {
        const byte = data[offset++] ?? 0;
        size += (byte & 0x7f) * scale;
        if (!(byte & 0x80)) break;
      }
    }
    const first = data[offset] ?? 0;
    if (type === OBU_SEQUENCE_HEADER) {
      sawSequenceHeader = true;
      reducedHeader = (first & 0x08) !== 0;
    }
    if (type === OBU_FRAME_HEADER || type === OBU_FRAME) {
      // show_existing_frame 0, frame_type 0 (key), show_frame 1; a reduced header implies all three.
      return size > 0 && sawSequenceHeader && (reducedHeader || first >> 4 === 0b0001);
    }
    offset += size;
  }
  return false;
}
