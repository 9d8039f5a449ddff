import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";

const Name = Type.String({ minLength: 1, maxLength: 500, description: "`Signing Key N` if unset" });

/** Body of `POST /api/access-control/signing-key`; may be left out. */
export const NewSigningKey = exact({
  name: Type.Optional(Name),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: "Only ever that of the API key" })),
});
export type NewSigningKey = Static<typeof NewSigningKey>;

/** Body of `PATCH /api/access-control/signing-key/{id}`. Tokens of a disabled key are refused within 5 seconds. */
export const SigningKeyPatch = exact({ name: Type.Optional(Name), disabled: Type.Optional(Type.Boolean()) });
export type SigningKeyPatch = Static<typeof SigningKeyPatch>;

/** A key that signs playback tokens (ES256), as it can be shown: its private half is not kept. */
export const SigningKey = Type.Object({
  id: Id,
  kind: Type.Literal("signing-key"),
  name: Type.String(),
  userId: Id,
  projectId: Id,
  publicKey: Type.String({
    description: "Base64 of the PEM text (SPKI); a token names it exactly so in its claim `pub`",
  }),
  disabled: Type.Boolean({ description: "True: what it signed opens nothing" }),
  createdAt: Milliseconds,
  lastSeen: Type.Optional(Type.Integer({ description: "Last time that a token of it was let in, exact to a minute" })),
});
export type SigningKey = Static<typeof SigningKey>;

/** The answer to `POST /api/access-control/signing-key`: the only one that has the private key. */
export const CreatedSigningKey = Type.Object({
  ...SigningKey.properties,
  privateKey: Type.String({ description: "Base64 of the PEM text (PKCS #8). Shown once" }),
});
export type CreatedSigningKey = Static<typeof CreatedSigningKey>;
