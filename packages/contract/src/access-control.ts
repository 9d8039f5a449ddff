import { type Static, Type } from "typebox";
import { exact, Milliseconds } from "./exact.ts";

/** Body of `POST /api/access-control/try`: what a viewer would bring. */
export const AccessTrial = exact({
  playbackId: Type.String({ minLength: 1, maxLength: 100 }),
  jwt: Type.Optional(Type.String({ maxLength: 20_000 })),
  accessKey: Type.Optional(Type.String({ maxLength: 10_000 })),
  origin: Type.Optional(Type.String({ maxLength: 500, description: "Of the web page with the player" })),
});
export type AccessTrial = Static<typeof AccessTrial>;

/** Body of `POST /api/access-control/owner-token`. */
export const NewOwnerToken = exact({
  playbackId: Type.String({ minLength: 1, maxLength: 100, description: "A stream or recording of the project" }),
});
export type NewOwnerToken = Static<typeof NewOwnerToken>;

/** A token that plays one stream or recording of the project, whatever its playback policy. */
export const OwnerToken = Type.Object({
  token: Type.String({ description: "Secret. Players send it as they send a signed token: `?jwt=` or `Service-Jwt`" }),
  expiresAt: Milliseconds,
});
export type OwnerToken = Static<typeof OwnerToken>;

/** The outcome. */
export const AccessTrialResult = Type.Object({
  allowed: Type.Boolean(),
  reason: Type.String({ description: "A sentence for people: why, and what to change" }),
});
export type AccessTrialResult = Static<typeof AccessTrialResult>;
