import { type Static, Type } from "typebox";
import { exact, expects, Id, Milliseconds } from "./exact.ts";

const Url = Type.String({
  maxLength: 2048,
  pattern: "^(srt|rtmps?)://",
  ...expects("an address that begins with rtmp://, rtmps:// or srt://"),
  description: "Write-only, because it may contain a stream key",
});
const Name = Type.String({ minLength: 1, maxLength: 500, description: "Defaults to the URL's host" });

/** Body of `POST /api/multistream/target`: a destination for streams. Also the `spec` inside a stream's `multistream.targets`. */
export const NewMultistreamTarget = exact({
  url: Url,
  name: Type.Optional(Name),
  disabled: Type.Optional(Type.Boolean()),
});
export type NewMultistreamTarget = Static<typeof NewMultistreamTarget>;

/** Body of `PATCH /api/multistream/target/{id}`: any subset. */
export const MultistreamTargetPatch = exact({
  url: Type.Optional(Url),
  name: Type.Optional(Name),
  disabled: Type.Optional(Type.Boolean()),
});
export type MultistreamTargetPatch = Static<typeof MultistreamTargetPatch>;

/** A target as its owner sees it: everything except its URL. */
export const MultistreamTarget = Type.Object({
  id: Id,
  name: Type.String(),
  userId: Id,
  projectId: Id,
  disabled: Type.Boolean({ description: "True: the server does not forward to it" }),
  createdAt: Milliseconds,
});
export type MultistreamTarget = Static<typeof MultistreamTarget>;
