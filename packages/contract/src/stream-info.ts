import { type Static, Type } from "typebox";
import { Session } from "./session.ts";
import { Stream } from "./stream.ts";

/** Response to `GET /api/stream/{id}/info`: the objects behind an id, stream key, playback id or session id. */
export const StreamInfo = Type.Object({
  stream: Stream,
  session: Type.Optional(Session),
  isPlaybackid: Type.Boolean({ description: "The id was a playback id" }),
  isSession: Type.Boolean({ description: "The id was that of `session`; otherwise `session` is the latest" }),
  isStreamKey: Type.Boolean({ description: "The id was a stream key" }),
});
export type StreamInfo = Static<typeof StreamInfo>;
