export { gathered } from "./webrtc-playback.ts";
