import { type Static, Type } from "typebox";
import { exact, expects, Id, Milliseconds } from "./exact.ts";

/** A login name, such as an e-mail address: compared in lower case, unique on a server. */
const PersonName = Type.String({
  ...{ minLength: 1, maxLength: 254, pattern: "^[^\\s\\p{C}]+$" },
  ...expects("a name without spaces"),
});
const Password = Type.String({ minLength: 10, maxLength: 200, description: "At least 10 characters" });

/** Body of `POST /api/person`. */
export const NewPerson = exact({ name: PersonName, password: Password });
export type NewPerson = Static<typeof NewPerson>;

/**
 * Body of `PATCH /api/person/{id}`: a new password. A person who signed in with a password can change only their own, and must give the current
 * one. A caller who signed in with an API key can set any password in the account.
 */
export const PersonPatch = exact({
  password: Password,
  currentPassword: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
});
export type PersonPatch = Static<typeof PersonPatch>;

/** A person who can sign in to the account's dashboard with a password. */
export const Person = Type.Object({
  id: Id,
  userId: Id,
  name: Type.String({ description: "Lower case" }),
  createdAt: Milliseconds,
  lastSeen: Type.Optional(Type.Integer({ description: "Time of the last sign-in" })),
});
export type Person = Static<typeof Person>;
