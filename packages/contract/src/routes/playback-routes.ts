import { Type } from "typebox";
import { ApiBase } from "../api-base.ts";
import { Ingest } from "../ingest.ts";
import { PlaybackInfo } from "../playback.ts";
import { flag, ok, type Route } from "../route.ts";

/** Public operations: the server's identity, playback URLs, ingest URLs. */
export const playbackRoutes = {
  getApiBase: {
    method: "GET",
    path: "/api",
    summary: "Get the server's name and version, and the URL of its API description",
    auth: "none",
    success: ok(ApiBase),
    failures: [],
  },
  getPlayback: {
    method: "GET",
    path: "/api/playback/:id",
    summary: "Get the playback URLs of a stream, recording or asset",
    auth: "none",
    query: Type.Object({ recordings: flag("`true`: with `dvrPlayback`; needs the owner's key") }),
    success: ok(PlaybackInfo),
    failures: [404, 422],
  },
  getIngest: {
    method: "GET",
    path: "/api/ingest",
    summary: "Get the ingest URLs",
    auth: "none",
    success: ok(Type.Array(Ingest)),
    failures: [],
  },
} as const satisfies Record<string, Route>;
