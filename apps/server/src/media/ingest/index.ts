export { publishSettings } from "./publish-settings.ts";
export { Pulls } from "./pull/pulls.ts";
export { SourceTrials } from "./pull/source-trials.ts";
export { RtmpServer } from "./rtmp/rtmp-server.ts";
export { SrtIngest } from "./srt/srt-ingest.ts";
export { WhipIngest } from "./whip/whip-ingest.ts";
