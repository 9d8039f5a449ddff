import { randomBytes } from "node:crypto";
import { type DashboardSession, routes } from "@weir/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isSameOrigin } from "../../platform/http/cors.ts";
import { clientOf } from "../../platform/limits/client.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import { ApiRoutes, Forbidden, TooManyRequests, Unauthenticated } from "../api/index.ts";
import type { Db, Trx } from "../schema.ts";
import { maySignIn } from "./access.ts";
import { deleteDashboardSession, findKey, insertDashboardSession, type NewDashboardSession } from "./account-store.ts";
import { type AuthenticateDeps, DASHBOARD_COOKIE } from "./authenticate.ts";
import type { Passwords } from "./password.ts";
import { loginName } from "./person-routes.ts";
import { findPersonByName, notePersonSeen } from "./person-store.ts";

const COOKIE_LIFE_MS = 7 * 86_400_000;
/** Wrong passwords per client, and per name, in a minute, so that nobody can guess passwords. */
const FAILED_SIGN_INS = 5;
const MINUTE_MS = 60_000;
const WRONG_PASSWORD = "this name and this password do not belong together";

export interface SignInRouteDeps extends AuthenticateDeps {
  readonly passwords: Passwords;
  publicUrl(): string;
}

/** Dashboard sign-in: exchanges an API key, or a name and password, for an HttpOnly cookie. */
export function signInRoutes(app: FastifyInstance, deps: SignInRouteDeps): void {
  const { db, clock, log, passwords, keyGuesses } = deps;
  const api = new ApiRoutes(app, deps);
  const limit = { clock, quota: FAILED_SIGN_INS, windowMs: MINUTE_MS };
  const [ofClient, ofName] = [new RateLimit(limit), new RateLimit(limit)];

  api.on(routes.signIn, async ({ body, address }, reply) => {
    refuseOtherPages(reply.request);
    const principal = await keyGuesses.look(address, body.apiKey, () => findKey(db, body.apiKey, clock.now()));
    if (principal === "too-many")
      throw new TooManyRequests("too many wrong keys from this address: try again in a second");
    if (principal === "denied" || principal.suspended) throw new Unauthenticated("this API key is not known here");
    if (!maySignIn(principal.access))
      throw new Forbidden("this API key has rules or is for web pages, so it cannot sign in at the dashboard");
    await begin(db, reply, { ...principal, keyId: principal.keyId, personId: null });
  });

  api.on(routes.logIn, async ({ body, address }, reply) => {
    refuseOtherPages(reply.request);
    const name = loginName(body.name);
    const client = clientOf(address);
    count(reply, ofClient, client);
    count(reply, ofName, name);
    const person = await findPersonByName(db, name);
    const isRight = await passwords.isRight(body.password, person?.password_hash ?? null);
    if (!person || !isRight || person.suspended) {
      log.info({ address }, "a log-in was refused");
      throw new Unauthenticated(WRONG_PASSWORD);
    }
    await db.transaction().execute(async (trx) => {
      if (!(await notePersonSeen(trx, person, clock.now()))) throw new Unauthenticated(WRONG_PASSWORD);
      await begin(trx, reply, { userId: person.user_id, keyId: null, personId: person.id });
    });
    ofClient.giveBack(client);
    ofName.giveBack(name);
  });

  app.delete(routes.signOut.path, { config: { route: routes.signOut } }, async (request, reply) => {
    refuseOtherPages(request);
    await forget(db, request);
    return reply.clearCookie(DASHBOARD_COOKIE, cookieOf(request)).code(204).send();
  });

  api.on(routes.getDashboardSession, async ({ principal }): Promise<DashboardSession> => {
    if (principal.cookieExpiresAt === null)
      throw new Unauthenticated("this address takes the dashboard's cookie, not a key");
    const { userId, projectId, keyName, keyPrefix, personId, reach, cookieExpiresAt } = principal;
    const session = { userId, projectId, keyName, keyPrefix, reach, expiresAt: cookieExpiresAt };
    return personId === null ? session : { ...session, personId };
  });

  /** Another site must be able neither to sign a person in as somebody else nor to sign them out. */
  function refuseOtherPages(request: FastifyRequest): void {
    if (request.headers.origin && !isSameOrigin(request, deps.publicUrl()))
      throw new Forbidden("only pages of this server sign in and out");
  }

  /** Taken before the lookup, so that a hundred concurrent attempts are not a hundred lookups. Returned after a correct one. */
  function count(reply: FastifyReply, failures: RateLimit, name: string): void {
    const allowance = failures.take(name);
    if (allowance.isAllowed) return;
    reply.headers(failures.headers(allowance));
    throw new TooManyRequests(`too many failed sign-ins: try again in ${allowance.resetSeconds} s`);
  }

  /** Always issues a new token: a token planted before sign-in is worthless, and the previous one is deleted. */
  async function begin(
    db: Db | Trx,
    reply: FastifyReply,
    who: Pick<NewDashboardSession, "userId" | "keyId" | "personId">,
  ): Promise<void> {
    await forget(db, reply.request);
    const token = randomBytes(32).toString("base64url");
    const now = clock.now();
    const { userId, keyId, personId } = who;
    await insertDashboardSession(db, { userId, keyId, personId, token, now, expiresAt: now + COOKIE_LIFE_MS });
    keyGuesses.wasGiven(token);
    reply.setCookie(DASHBOARD_COOKIE, token, { ...cookieOf(reply.request), maxAge: COOKIE_LIFE_MS / 1000 });
  }

  async function forget(db: Db | Trx, { cookies }: FastifyRequest): Promise<void> {
    const token = cookies[DASHBOARD_COOKIE];
    if (token) await deleteDashboardSession(db, token);
  }

  function cookieOf({ protocol }: FastifyRequest) {
    const secure = protocol === "https" || deps.publicUrl().startsWith("https:");
    return { path: "/", httpOnly: true, sameSite: "strict", secure } as const;
  }
}
