/** Messages of an encoder: x264 and AAC configurations written by FFmpeg, and frames with made-up slices. */

const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));

export const AVC_CONFIG = fromHex(
  "01640028ffe1001767640028acb403c0113f2c2000007d20001d4c01e3065401000468ef0fcbfdf8f800",
);
export const AVC_360P_CONFIG = fromHex(
  "0142c016ffe100186742c016da0280bfe584000003000400000300783c58ba8001000468ce0fc8",
);
export const HEVC_CONFIG = fromHex(
  "01016000000090000000000078f000fcfdf8f800000f03a00001001840010c01ffff016000000300900000030000030078ba0240" +
    "a10001002a420101016000000300900000030000030078a003c0801107cb96e92930b9a020000003002000000303c1a2000100064401c073c189",
);
export const AV1_CONFIG = fromHex("81010c000a0b0000000cc4ff6700be0010");
/** AAC-LC, 44,100 Hz, stereo. */
export const AAC_CONFIG = Uint8Array.of(0x12, 0x10);

/** One NAL unit with its 4-byte length. */
export function nal(header: number, ...rest: number[]): Uint8Array {
  return Uint8Array.of(0, 0, 0, 1 + rest.length, header, ...rest);
}

const AVC_IDR = nal(0x65, 0x88, 0x84);
const AVC_SLICE = nal(0x41, 0x9a, 0x24);

export const avcConfig = (config = AVC_CONFIG) => Uint8Array.of(0x17, 0, 0, 0, 0, ...config);
export const avcKeyframe = (units = AVC_IDR) => Uint8Array.of(0x17, 1, 0, 0, 80, ...units);
export const avcFrame = (units = AVC_SLICE) => Uint8Array.of(0x27, 1, 0, 0, 40, ...units);
export const aacConfig = () => Uint8Array.of(0xaf, 0, ...AAC_CONFIG);
export const aacFrame = (...data: number[]) => Uint8Array.of(0xaf, 1, ...(data.length ? data : [0x21, 0x10, 0x04]));

/** An Enhanced RTMP tag. `packetType` is 0 for a configuration, 1 for frames, 3 for frames without a composition time. */
export function enhancedVideo(fourCc: string, packetType: number, body: Uint8Array, frameType = 1): Uint8Array {
  return Uint8Array.of(0x80 | (frameType << 4) | packetType, ...Buffer.from(fourCc), ...body);
}

export function enhancedAudio(fourCc: string, packetType: number, body: Uint8Array): Uint8Array {
  return Uint8Array.of(0x90 | packetType, ...Buffer.from(fourCc), ...body);
}
