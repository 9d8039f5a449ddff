import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";

/** A log-in name, such as an e-mail address: compared in lower case, one person on a server. */
const PersonName = Type.String({ minLength: 1, maxLength: 254, pattern: "^[^\\s\\p{C}]+$" });
const Password = Type.String({ minLength: 10, maxLength: 200, description: "10 characters at least" });

/** Body of `POST /api/person`. */
export const NewPerson = exact({ name: PersonName, password: Password });
export type NewPerson = Static<typeof NewPerson>;

/**
 * Body of `PATCH /api/person/{id}`: a new password. A person signed in with a password changes only their own and gives the current one;
 * who is signed in with an API key sets anybody's of the account.
 */
export const PersonPatch = exact({
  password: Password,
  currentPassword: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
});
export type PersonPatch = Static<typeof PersonPatch>;

/** Somebody who may sign in at the dashboard of the account with a password. */
export const Person = Type.Object({
  id: Id,
  userId: Id,
  name: Type.String({ description: "Lower case" }),
  createdAt: Milliseconds,
  lastSeen: Type.Optional(Type.Integer({ description: "Time of the last sign-in" })),
});
export type Person = Static<typeof Person>;
