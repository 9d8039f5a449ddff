export { H264Depacketizer, type RtpPicture } from "./h264-depacketizer.ts";
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
} from "./rtcp.ts";
export { isRtcp, type RtpPacket, readRtpPacket } from "./rtp-packet.ts";
export { WrappedCounter } from "./wrapped-counter.ts";
