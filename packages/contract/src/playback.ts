import { type Static, Type } from "typebox";
import { Milliseconds } from "./exact.ts";

/** One playback URL. Clients validate both strings against these lists. */
export const PlaybackSource = Type.Object({
  hrn: Type.Enum([
    "MP4",
    "HLS (TS)",
    "WebRTC (H264)",
    "FLV (H264)",
    "Thumbnail (JPEG)",
    "Thumbnail (PNG)",
    "Thumbnails",
  ]),
  type: Type.Enum([
    "html5/video/mp4",
    "html5/application/vnd.apple.mpegurl",
    "html5/video/h264",
    "video/x-flv",
    "image/jpeg",
    "image/png",
    "text/vtt",
  ]),
  url: Type.String(),
  size: Type.Optional(Type.Integer({ description: "Bytes" })),
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
  bitrate: Type.Optional(Type.Integer({ description: "Bits per second" })),
});
export type PlaybackSource = Static<typeof PlaybackSource>;

/** Response to `GET /api/playback/{id}`. `source` is never empty: MP4s first by descending bitrate, then HLS, then the rest. */
export const PlaybackInfo = Type.Object({
  type: Type.Enum(["live", "vod", "recording"]),
  meta: Type.Object({
    live: Type.Optional(Type.Enum([0, 1])),
    playbackPolicy: Type.Optional(
      Type.Union([Type.Object({ type: Type.Enum(["public", "jwt", "webhook"]) }), Type.Null()]),
    ),
    source: Type.Array(PlaybackSource),
    startedAt: Type.Optional({
      ...Milliseconds,
      description:
        "When the broadcast began (for an offline stream, its last one), or the asset was created. Only for public videos",
    }),
    viewerCount: Type.Optional(Type.Integer({ description: "Viewers of a public stream that is live" })),
    poster: Type.Optional(
      Type.String({
        description:
          "Address of a picture to show before the video plays, with the access rules of the video: the newest picture of a live stream, or the last one of an offline stream that was recorded. An offline stream with a playback policy always has an address",
      }),
    ),
    dvrPlayback: Type.Optional(
      Type.Array(
        Type.Object({
          hrn: Type.Optional(Type.String()),
          type: Type.Optional(Type.String()),
          url: Type.Optional(Type.String()),
          error: Type.Optional(Type.String()),
        }),
        { description: "Only for the owner, with `?recordings=true`" },
      ),
    ),
  }),
});
export type PlaybackInfo = Static<typeof PlaybackInfo>;
