import { Type } from "typebox";
import { Ingest } from "../ingest.ts";
import { PlaybackInfo } from "../playback.ts";
import { flag, ok, type Route } from "../route.ts";

/** Where things play and where to publish to. */
export const playbackRoutes = {
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
