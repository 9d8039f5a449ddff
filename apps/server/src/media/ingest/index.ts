export { publishSettings } from "./publish-settings.ts";
export { RtmpServer } from "./rtmp/rtmp-server.ts";
export { WhipIngest } from "./whip/whip-ingest.ts";
