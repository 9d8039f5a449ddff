export { AacDepacketizer, type AacPacking, type RtpAudioFrame } from "./aac-depacketizer.ts";
export { DecodeTimes } from "./decode-times.ts";
export { H264Depacketizer } from "./h264-depacketizer.ts";
export { h264Payloads, type RtpPayload } from "./h264-payloads.ts";
export { HevcDepacketizer } from "./hevc-depacketizer.ts";
export type { RtpPicture } from "./picture-assembler.ts";
export { ReorderBuffer, type ReorderStatistics } from "./reorder-buffer.ts";
export {
  type OwnReception,
  type ReceptionReport,
  type RtcpReport,
  readRtcp,
  roundTripMs,
  type SenderReport,
  writeNack,
  writePli,
  writeReceiverReport,
  writeReferenceTime,
  writeRemb,
  writeSenderReport,
} from "./rtcp.ts";
export { isRtcp, RTP_HEADER_BYTES, type RtpPacket, readRtpPacket, writeRtpHeader } from "./rtp-packet.ts";
