import { type Static, Type } from "typebox";
import { exact, Milliseconds } from "./exact.ts";

/** Body of `POST /api/access-control/try`: the credentials of a viewer to test. */
export const AccessTrial = exact({
  playbackId: Type.String({ minLength: 1, maxLength: 100 }),
  jwt: Type.Optional(Type.String({ maxLength: 20_000 })),
  accessKey: Type.Optional(Type.String({ maxLength: 10_000 })),
  origin: Type.Optional(Type.String({ maxLength: 500, description: "Origin or URL of the page with the player" })),
});
export type AccessTrial = Static<typeof AccessTrial>;

/** Body of `POST /api/access-control/owner-token`. */
export const NewOwnerToken = exact({
  playbackId: Type.String({ minLength: 1, maxLength: 100, description: "Of a stream or recording in the project" }),
});
export type NewOwnerToken = Static<typeof NewOwnerToken>;

/** A token that plays one stream or recording of the project, under any playback policy. */
export const OwnerToken = Type.Object({
  token: Type.String({ description: "Secret. Players send it like a signed token: `?jwt=` or `Service-Jwt`" }),
  expiresAt: Milliseconds,
});
export type OwnerToken = Static<typeof OwnerToken>;

/** The outcome. */
export const AccessTrialResult = Type.Object({
  allowed: Type.Boolean(),
  reason: Type.String({ description: "The reason and the fix, as a sentence" }),
});
export type AccessTrialResult = Static<typeof AccessTrialResult>;
