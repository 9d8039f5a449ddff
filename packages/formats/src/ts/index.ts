export { TsMuxer, type TsTracks, type TsUnit } from "./ts-muxer.ts";
export { TS_PACKET_BYTES } from "./ts-pid.ts";
