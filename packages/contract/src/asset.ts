import { type Static, Type } from "typebox";
import { exact, expects, Id, Milliseconds } from "./exact.ts";
import { PlaybackPolicy } from "./playback-policy.ts";
import { TranscodeProfile } from "./profile.ts";
import { CreatorId, InputCreatorId, Nullable, RetentionDays } from "./stream.ts";

/** `uploading`, `waiting`, `processing` (with progress), then `ready` or `failed`. A deleted asset is `deleting` until its bytes are removed. */
export const AssetPhase = Type.Enum(["uploading", "waiting", "processing", "ready", "failed", "deleting", "deleted"]);
export type AssetPhase = Static<typeof AssetPhase>;

export const AssetStatus = Type.Object({
  phase: AssetPhase,
  updatedAt: Milliseconds,
  progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Progress of the phase" })),
  errorMessage: Type.Optional(Type.String({ description: "The problem with the file, and the fix" })),
  /** Weir additions. */
  isPlayable: Type.Boolean({ description: "Whether it can be watched, possibly not yet in all renditions" }),
  purgeAt: Type.Optional(
    Type.Integer({ description: "When the files of a deleted asset are removed; until then it can be restored" }),
  ),
});
export type AssetStatus = Static<typeof AssetStatus>;

export const AssetSource = Type.Union([
  Type.Object({ type: Type.Literal("url"), url: Type.String() }),
  Type.Object({ type: Type.Literal("directUpload") }),
  Type.Object({
    type: Type.Literal("clip"),
    playbackId: Type.String({ description: "Playback id of the stream or asset that it was cut from" }),
    sessionId: Type.Optional(Id),
    assetId: Type.Optional(Id),
  }),
  Type.Object({ type: Type.Literal("recording"), sessionId: Id }),
]);
export type AssetSource = Static<typeof AssetSource>;

export const AssetTrack = Type.Object({
  type: Type.Enum(["video", "audio"]),
  codec: Type.String(),
  startTime: Type.Optional(Type.Number({ description: "Seconds" })),
  duration: Type.Optional(Type.Number({ description: "Seconds" })),
  bitrate: Type.Optional(Type.Number({ description: "Bits per second" })),
  width: Type.Optional(Type.Number()),
  height: Type.Optional(Type.Number()),
  pixelFormat: Type.Optional(Type.String()),
  fps: Type.Optional(Type.Number()),
  channels: Type.Optional(Type.Number()),
  sampleRate: Type.Optional(Type.Number()),
  bitDepth: Type.Optional(Type.Number()),
});
export type AssetTrack = Static<typeof AssetTrack>;

/** An uploaded or imported file, and its renditions. Unset fields are absent. */
export const Asset = Type.Object({
  id: Id,
  type: Type.Optional(Type.Enum(["video", "audio"])),
  playbackId: Type.String(),
  userId: Id,
  projectId: Id,
  name: Type.String(),
  createdAt: Milliseconds,
  createdByTokenName: Type.Optional(Type.String()),
  creatorId: Type.Optional(CreatorId),
  source: AssetSource,
  profiles: Type.Optional(Type.Array(TranscodeProfile)),
  staticMp4: Type.Optional(Type.Boolean()),
  keepOriginal: Type.Optional(
    Type.Boolean({ description: "Whether the file is kept byte for byte once the asset is ready, for downloads" }),
  ),
  retentionDays: Type.Optional(RetentionDays),
  status: AssetStatus,
  size: Type.Optional(Type.Integer({ description: "Size of the source file in bytes" })),
  hash: Type.Optional(
    Nullable(Type.Array(Type.Object({ hash: Type.String(), algorithm: Type.Enum(["md5", "sha256"]) }))),
  ),
  videoSpec: Type.Optional(
    Type.Object({
      format: Type.Optional(Type.String()),
      duration: Type.Optional(Type.Number({ description: "Seconds" })),
      bitrate: Type.Optional(Type.Number({ description: "Bits per second" })),
      tracks: Type.Optional(Type.Array(AssetTrack, { description: "In lists, only with `?details=1`" })),
    }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: "Parts of the file that the asset leaves out: captions and additional audio tracks",
    }),
  ),
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
  playbackUrl: Type.Optional(Type.String({ description: "HLS playlist, once the asset can be watched" })),
  downloadUrl: Type.Optional(
    Type.String({
      description:
        "The uploaded or imported file, once the asset is ready; for recordings, clips and assets without one, the source-quality MP4",
    }),
  ),
});
export type Asset = Static<typeof Asset>;

const Name = Type.String({ minLength: 1, maxLength: 1000 });

const MAX_SEGMENT_SECONDS = 30;

/** Fields of the public API for which Weir has nothing: values that ask for nothing are ignored, others are answered with 501. */
const publicOptions = {
  storage: Type.Optional(
    Type.Unknown({ description: 'Ignored if it requests nothing, such as `{"ipfs": false}`; otherwise 501' }),
  ),
  encryption: Type.Optional(Type.Unknown({ description: "Ignored if null; otherwise 501" })),
};

const options = {
  name: Name,
  staticMp4: Type.Optional(
    Type.Boolean({ description: "MP4s of all renditions, even for videos longer than 2 minutes" }),
  ),
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
  creatorId: Type.Optional(InputCreatorId),
  profiles: Type.Optional(
    Nullable(
      Type.Array(TranscodeProfile, { maxItems: 32, description: "Defaults to a ladder derived from the source" }),
    ),
  ),
  keepOriginal: Type.Optional(
    Type.Boolean({
      description:
        "Keep the file byte for byte, for downloads; about doubles the asset's storage. Defaults to the server's `WEIR_KEEP_ORIGINALS`",
    }),
  ),
  retentionDays: Type.Optional(Nullable(RetentionDays)),
  targetSegmentSizeSecs: Type.Optional(Type.Number({ minimum: 1, maximum: MAX_SEGMENT_SECONDS })),
  c2pa: Type.Optional(Type.Boolean({ description: "Ignored" })),
  ...publicOptions,
};

/** Body of `POST /api/asset/request-upload`. */
export const NewAsset = exact(options);
export type NewAsset = Static<typeof NewAsset>;

/** Body of `POST /api/asset/upload/url`. */
export const NewAssetFromUrl = exact({
  ...options,
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    pattern: "^https?://",
    ...expects("an address that begins with http:// or https://"),
    description: "URL from which the server fetches the file",
  }),
});
export type NewAssetFromUrl = Static<typeof NewAssetFromUrl>;

/** Body of `PATCH /api/asset/{id}`: any subset. A policy cannot change from public to gated, or back. */
export const AssetPatch = exact({
  name: Type.Optional(Name),
  creatorId: Type.Optional(InputCreatorId),
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
  retentionDays: Type.Optional(Nullable(RetentionDays)),
  ...publicOptions,
});
export type AssetPatch = Static<typeof AssetPatch>;

const TaskRef = Type.Object({ id: Id });

/** Response to `POST /api/asset/request-upload`: two URLs for one file, with a token for this asset only. */
export const RequestedUpload = Type.Object({
  url: Type.String({ description: "For a single `PUT` with the file as its body" }),
  tusEndpoint: Type.String({ description: "For a tus 1.0 client, which can resume" }),
  asset: Asset,
  task: TaskRef,
});
export type RequestedUpload = Static<typeof RequestedUpload>;

/** Response to `POST /api/asset/upload/url`. */
export const RequestedImport = Type.Object({ asset: Asset, task: TaskRef });
export type RequestedImport = Static<typeof RequestedImport>;
