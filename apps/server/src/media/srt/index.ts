export { Libsrt } from "./libsrt.ts";
export { type SrtAddress, srtAddressOf } from "./srt-address.ts";
export {
  INSTALL_LIBSRT,
  type SrtGuest,
  type SrtGuestHandler,
  type SrtHost,
  type SrtLink,
  type SrtLinkHandler,
  type SrtListening,
  SrtProcess,
} from "./srt-process.ts";
export type { SrtLinkReport } from "./srt-protocol.ts";
