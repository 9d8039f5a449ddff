export { PublishClock } from "./publish-clock.ts";
export { StunResponder } from "./stun-responder.ts";
export { TurnCredentials } from "./turn-credentials.ts";
export { type WebrtcPeers, WebrtcProcess } from "./webrtc-process.ts";
