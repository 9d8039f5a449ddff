export { PictureReader } from "./picture-reader.ts";
export { TsMuxer, type TsTracks, type TsUnit } from "./ts-muxer.ts";
export { TS_PACKET_BYTES } from "./ts-pid.ts";
export {
  type TsAudioTrack,
  type TsFrame,
  type TsProgram,
  TsReader,
  type TsReaderHandler,
  type TsVideoTrack,
} from "./ts-reader.ts";
