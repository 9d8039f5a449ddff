export type { PublicationHub } from "./rtmp-publisher.ts";
export { RtmpServer, type RtmpServerSettings } from "./rtmp-server.ts";
