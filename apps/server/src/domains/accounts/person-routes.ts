import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import {
  ApiError,
  ApiRoutes,
  BadRequest,
  Forbidden,
  found,
  listOf,
  type Principal,
  TooManyRequests,
} from "../api/index.ts";
import type { Deps } from "../deps.ts";
import type { PersonRow } from "../schema.ts";
import { DASHBOARD_COOKIE } from "./authenticate.ts";
import type { Passwords } from "./password.ts";
import {
  countPeople,
  deletePerson,
  findPerson,
  insertPerson,
  personFields,
  personRecord,
  setPassword,
} from "./person-store.ts";

const MAX_PEOPLE = 100;
/** Wrong current passwords per person and minute, so that an unattended browser reveals nothing. */
const WRONG_PASSWORDS = 5;
const MINUTE_MS = 60_000;

/** 409 with the name of the conflict. */
const personConflict = (message: string) => new ApiError(409, "person-conflict", message);

export interface PersonRouteDeps extends Deps {
  readonly passwords: Passwords;
}

/** Login names are compared in lower case, whichever way a keyboard composes them. */
export const loginName = (name: string): string => name.trim().normalize("NFKC").toLowerCase();

/** The people who can sign in to the dashboard with a password. All people of an account have the same rights. */
export function personRoutes(app: FastifyInstance, deps: PersonRouteDeps): void {
  const { db, clock, passwords } = deps;
  const api = new ApiRoutes(app, deps);
  const wrong = new RateLimit({ clock, quota: WRONG_PASSWORDS, windowMs: MINUTE_MS });

  api.on(routes.createPerson, async ({ principal, body }) => {
    const name = loginName(body.name);
    checkPassword(name, body.password);
    if ((await countPeople(db, principal)) >= MAX_PEOPLE)
      throw new BadRequest(`an account has at most ${MAX_PEOPLE} people: remove one first`);
    const passwordHash = await passwords.hash(body.password);
    const person = await insertPerson(db, principal, { name, passwordHash, now: clock.now() });
    if (!person) throw personConflict("somebody on this server has this name already: choose another one");
    return person;
  });

  const list = { fields: personFields, order: "name-false", isOfAccount: true, shown: personRecord } as const;
  api.on(routes.listPeople, listOf(db, "person", list));

  api.on(routes.patchPerson, async ({ principal, id, body }, { request }) => {
    const person = found(await findPerson(db, principal, id));
    if (principal.personId !== null) await checkCurrent(principal, person, body.currentPassword);
    checkPassword(person.name, body.password);
    const keptToken = principal.personId === id ? request.cookies[DASHBOARD_COOKIE] : undefined;
    await setPassword(db, principal, id, { passwordHash: await passwords.hash(body.password), keptToken });
  });

  api.on(routes.deletePerson, async ({ principal, id }) => {
    found(await findPerson(db, principal, id));
    if (principal.personId === id) throw personConflict("you are signed in as this person: let somebody else do it");
    await deletePerson(db, principal, id);
  });

  /** A thief of a signed-in browser does not know the password. */
  async function checkCurrent(principal: Principal, person: PersonRow, current: string | undefined): Promise<void> {
    if (principal.personId !== person.id)
      throw new Forbidden("the password of somebody else is set by who is signed in with an API key");
    if (current === undefined) throw new BadRequest("currentPassword is missing: give your present password as well");
    if (!wrong.take(person.id).isAllowed) throw new TooManyRequests("too many wrong passwords: try again in a minute");
    if (!(await passwords.isRight(current, person.password_hash))) throw new Forbidden("the present password is wrong");
    wrong.giveBack(person.id);
  }
}

function checkPassword(name: string, password: string): void {
  if (loginName(password).includes(name) || new Set(password).size < 4)
    throw new BadRequest(
      "this password is easy to guess: it may not hold the name, and needs four different characters",
    );
}
