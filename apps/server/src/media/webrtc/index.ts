export { PublishClock } from "./publish-clock.ts";
export { StunResponder } from "./stun-responder.ts";
export { type WebrtcPeers, WebrtcProcess } from "./webrtc-process.ts";
