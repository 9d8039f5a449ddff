import { Type } from "typebox";
import { ApiBase } from "../api-base.ts";
import { Ingest } from "../ingest.ts";
import { PlaybackInfo } from "../playback.ts";
import { flag, ok, type Route } from "../route.ts";

/** What anybody may ask: what this server is, where things play and where to publish to. */
export const playbackRoutes = {
  getApiBase: {
    method: "GET",
    path: "/api",
    summary: "Name and version of this server, and where its API is described",
    auth: "none",
    success: ok(ApiBase),
    failures: [],
  },
  getPlayback: {
    method: "GET",
    path: "/api/playback/:id",
    summary: "Where a stream or recording plays",
    auth: "none",
    query: Type.Object({ recordings: flag("`true`: with `dvrPlayback`; needs the owner's key") }),
    success: ok(PlaybackInfo),
    failures: [404, 422],
  },
  getIngest: {
    method: "GET",
    path: "/api/ingest",
    summary: "Where to publish to",
    auth: "none",
    success: ok(Type.Array(Ingest)),
    failures: [],
  },
} as const satisfies Record<string, Route>;
