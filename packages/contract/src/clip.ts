import { type Static, Type } from "typebox";
import { Asset } from "./asset.ts";
import { exact, Id } from "./exact.ts";
import { PlaybackPolicy } from "./playback-policy.ts";
import { Nullable } from "./stream.ts";

/** The last millisecond since the Unix epoch that a clip's time can be; before 1973 times count from the begin of the media. */
const Time = Type.Integer({ minimum: 0, maximum: 8.64e15 });

/** Body of `POST /api/clip`. */
export const NewClip = exact({
  playbackId: Type.String({ minLength: 1, description: "Of a stream, live or not, of a recording or of an asset" }),
  startTime: Type.Unsafe<number>({
    ...Time,
    description:
      "Milliseconds since the Unix epoch, as `EXT-X-PROGRAM-DATE-TIME` has them; values before 1973 count from the begin of the media",
  }),
  endTime: Type.Optional(
    Type.Unsafe<number>({ ...Time, description: "Not in the clip any more; the end of the media, or now, if unset" }),
  ),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  sessionId: Type.Optional(
    Type.String({ description: "Of a stream: the session to cut from; its latest one if unset" }),
  ),
  /** Addition of ours. */
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
});
export type NewClip = Static<typeof NewClip>;

/** A clip is an asset, and a task that makes it. */
export const CreatedClip = Type.Object({ asset: Asset, task: Type.Object({ id: Id }) });
export type CreatedClip = Static<typeof CreatedClip>;
