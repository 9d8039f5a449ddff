import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";

const Name = Type.String({ minLength: 1, maxLength: 500, description: "Defaults to `Signing Key N`" });

/** Body of `POST /api/access-control/signing-key`; optional. */
export const NewSigningKey = exact({
  name: Type.Optional(Name),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: "Must be the API key's project" })),
});
export type NewSigningKey = Static<typeof NewSigningKey>;

/** Body of `PATCH /api/access-control/signing-key/{id}`. Tokens of a disabled key are refused within 5 seconds. */
export const SigningKeyPatch = exact({ name: Type.Optional(Name), disabled: Type.Optional(Type.Boolean()) });
export type SigningKeyPatch = Static<typeof SigningKeyPatch>;

/** The record of a key that signs playback tokens (ES256); its private half is not stored. */
export const SigningKey = Type.Object({
  id: Id,
  kind: Type.Literal("signing-key"),
  name: Type.String(),
  userId: Id,
  projectId: Id,
  publicKey: Type.String({
    description: "Base64 of the PEM text (SPKI); the `pub` claim of a token must equal it",
  }),
  disabled: Type.Boolean({ description: "True: its tokens are refused" }),
  createdAt: Milliseconds,
  lastSeen: Type.Optional(
    Type.Integer({ description: "Last time one of its tokens was accepted, accurate to a minute" }),
  ),
});
export type SigningKey = Static<typeof SigningKey>;

/** The response to `POST /api/access-control/signing-key`, the only one that contains the private key. */
export const CreatedSigningKey = Type.Object({
  ...SigningKey.properties,
  privateKey: Type.String({ description: "Base64 of the PEM text (PKCS #8). Shown once" }),
});
export type CreatedSigningKey = Static<typeof CreatedSigningKey>;
