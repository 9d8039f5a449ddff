import { type Static, Type } from "typebox";
import { exact, expects } from "./exact.ts";
import { TranscodeProfile } from "./profile.ts";
import { InputCreatorId, Nullable } from "./stream.ts";

const MAX_SEGMENT_SECONDS = 30;

const path = (description: string) => Type.String({ minLength: 1, maxLength: 900, description });

const StoreKey = Type.String({
  ...{ minLength: 1, maxLength: 300, pattern: "^[!-~]+$" },
  ...expects("a key of a store: ASCII characters without spaces"),
});

const s3 = {
  type: Type.Literal("s3"),
  endpoint: Type.String({
    minLength: 1,
    maxLength: 2048,
    pattern: "^https?://",
    ...expects("an address that begins with http:// or https://"),
    description: "URL of the store, such as `https://s3.eu-central-1.amazonaws.com`; the bucket is part of the path",
  }),
  bucket: Type.String({
    pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$",
    ...expects("the name of a bucket: 2 to 255 letters, digits, dots, hyphens and underscores"),
  }),
  region: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9-]{1,64}$",
      ...expects("the name of a region: up to 64 letters, digits and hyphens"),
      description: "Defaults to the region in the endpoint, or `us-east-1`",
    }),
  ),
  credentials: exact({
    accessKeyId: StoreKey,
    secretAccessKey: StoreKey,
  }),
};

export const TranscodeInput = Type.Union([
  exact({
    url: Type.String({
      ...{ minLength: 1, maxLength: 2048, pattern: "^(https?|ipfs|ar)://" },
      ...expects("an address that begins with http:// or https://"),
    }),
  }),
  exact({ ...s3, path: path("Of the file in the bucket") }),
]);
export type TranscodeInput = Static<typeof TranscodeInput>;

export const TranscodeStorage = Type.Union([
  exact(s3),
  exact({ type: Type.Literal("web3.storage"), credentials: exact({ proof: Type.String() }) }, "Refused"),
]);
export type TranscodeStorage = Static<typeof TranscodeStorage>;

const output = (description: string) => Type.Optional(exact({ path: path(description) }));

/** Body of `POST /api/transcode`. */
export const NewTranscode = exact({
  input: TranscodeInput,
  storage: TranscodeStorage,
  outputs: exact({
    hls: output("Folder of HLS with segments of fragmented MP4: `index.m3u8` and what it leads to"),
    mp4: output("Folder of an MP4 for each quality: `static{name}.mp4`"),
    fmp4: output("As `hls`"),
  }),
  profiles: Type.Optional(
    Nullable(
      Type.Array(TranscodeProfile, { maxItems: 32, description: "Defaults to a ladder derived from the source" }),
    ),
  ),
  targetSegmentSizeSecs: Type.Optional(Type.Number({ minimum: 1, maximum: MAX_SEGMENT_SECONDS })),
  creatorId: Type.Optional(InputCreatorId),
  c2pa: Type.Optional(Type.Boolean({ description: "Ignored" })),
});
export type NewTranscode = Static<typeof NewTranscode>;
