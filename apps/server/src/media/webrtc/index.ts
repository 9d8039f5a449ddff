export { StunResponder } from "./stun-responder.ts";
export { findUdpPort } from "./udp-port.ts";
export { type WebrtcPeers, WebrtcProcess } from "./webrtc-process.ts";
