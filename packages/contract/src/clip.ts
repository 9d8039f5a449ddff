import { type Static, Type } from "typebox";
import { Asset } from "./asset.ts";
import { exact, Id } from "./exact.ts";
import { PlaybackPolicy } from "./playback-policy.ts";
import { Nullable } from "./stream.ts";

/** The latest clip time, in milliseconds since the Unix epoch. Times before 1973 count from the start of the media. */
const Time = Type.Integer({ minimum: 0, maximum: 8.64e15 });

/** Body of `POST /api/clip`. */
export const NewClip = exact({
  playbackId: Type.String({ minLength: 1, description: "Of a stream, live or not, a recording or an asset" }),
  startTime: Type.Unsafe<number>({
    ...Time,
    description:
      "Milliseconds since the Unix epoch, as `EXT-X-PROGRAM-DATE-TIME` has them; values before 1973 count from the start of the media",
  }),
  endTime: Type.Optional(
    Type.Unsafe<number>({ ...Time, description: "Exclusive; defaults to the end of the media, or to now" }),
  ),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  sessionId: Type.Optional(
    Type.String({ description: "For a stream: the session to cut from; defaults to its latest one" }),
  ),
  /** Weir addition. */
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
});
export type NewClip = Static<typeof NewClip>;

/** A clip is an asset, and a task that makes it. */
export const CreatedClip = Type.Object({ asset: Asset, task: Type.Object({ id: Id }) });
export type CreatedClip = Static<typeof CreatedClip>;
