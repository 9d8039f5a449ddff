import { randomBytes } from "node:crypto";
import { type DashboardSession, type EffectiveSetting, routes, type ServerSettings } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { RateLimit } from "../../platform/http/rate-limit.ts";
import { TooManyRequests } from "../api-error.ts";
import { ApiRoutes } from "../api-routes.ts";
import type { Deps } from "../deps.ts";
import { refusalOf } from "./access.ts";
import { Forbidden, Unauthenticated } from "./account-errors.ts";
import { deleteDashboardSession, findKey, insertDashboardSession, readAccount } from "./account-store.ts";
import { apiTokenRoutes } from "./api-token-routes.ts";
import { DASHBOARD_COOKIE } from "./authenticate.ts";
import { projectRoutes } from "./project-routes.ts";
import { requireUnrestricted } from "./request-guard.ts";

const COOKIE_LIFE_MS = 7 * 86_400_000;
/** Failed sign-ins of one address within a minute, so that keys cannot be tried out. */
const FAILED_SIGN_INS = 5;
const MINUTE_MS = 60_000;

export interface AccountRouteDeps extends Deps {
  readonly version: string;
  /** What the process is set to, without secrets. */
  readonly effectiveSettings: readonly EffectiveSetting[];
  listNodes(): Promise<ServerSettings["nodes"]>;
  publicUrl(): string;
}

/** Who asks, the dashboard's sign-in, projects, API keys, and how the server is set up. */
export function accountRoutes(app: FastifyInstance, deps: AccountRouteDeps): void {
  const api = new ApiRoutes(app, deps);

  signInRoutes(app, deps);
  projectRoutes(app, deps);
  apiTokenRoutes(app, deps);

  api.on(routes.getAccount, async ({ principal }) => readAccount(deps.db, principal));

  api.on(routes.getServerSettings, async ({ principal }): Promise<ServerSettings> => {
    requireUnrestricted(principal);
    return { version: deps.version, settings: [...deps.effectiveSettings], nodes: await deps.listNodes() };
  });
}

/** Sign-in of the dashboard: an API key for an HttpOnly cookie. */
function signInRoutes(app: FastifyInstance, deps: AccountRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const failures = new RateLimit({ clock: deps.clock, quota: FAILED_SIGN_INS, windowMs: MINUTE_MS });
  const cookie = () =>
    ({ path: "/", httpOnly: true, sameSite: "strict", secure: deps.publicUrl().startsWith("https:") }) as const;

  api.on(routes.signIn, async ({ body, address }, reply) => {
    // Counted before the look, so that a hundred tries at once are not a hundred looks.
    const allowance = failures.take(address);
    if (!allowance.isAllowed) {
      reply.headers(failures.headers(allowance));
      throw new TooManyRequests(`too many failed sign-ins: try again in ${allowance.resetSeconds} s`);
    }
    const now = deps.clock.now();
    const principal = await findKey(deps.db, body.apiKey, now);
    if (!principal || principal.suspended) throw new Unauthenticated("this API key is not known here");
    failures.giveBack(address);
    if (refusalOf(principal.access, { method: "get", path: ["dashboard", "session"] }))
      throw new Forbidden("this API key is restricted, so it cannot sign in at the dashboard");
    // Always a new token: one that was planted before signing in is worth nothing.
    const token = randomBytes(32).toString("base64url");
    await insertDashboardSession(deps.db, { principal, token, now, expiresAt: now + COOKIE_LIFE_MS });
    reply.setCookie(DASHBOARD_COOKIE, token, { ...cookie(), maxAge: COOKIE_LIFE_MS / 1000 });
  });

  app.delete(
    routes.signOut.path,
    { schema: { summary: routes.signOut.summary }, config: { route: routes.signOut } },
    async (request, reply) => {
      const token = request.cookies[DASHBOARD_COOKIE];
      if (token) await deleteDashboardSession(deps.db, token);
      return reply.clearCookie(DASHBOARD_COOKIE, cookie()).code(204).send();
    },
  );

  api.on(routes.getDashboardSession, async ({ principal }): Promise<DashboardSession> => {
    if (principal.cookieExpiresAt === null)
      throw new Unauthenticated("this address takes the dashboard's cookie, not a key");
    const { userId, projectId, keyName, keyPrefix, cookieExpiresAt } = principal;
    return { userId, projectId, keyName, keyPrefix, expiresAt: cookieExpiresAt };
  });
}
