import { randomBytes } from "node:crypto";
import { type DashboardSession, routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes } from "../api-routes.ts";
import type { Deps } from "../deps.ts";
import { Unauthenticated } from "./account-errors.ts";
import { deleteDashboardSession, findKey, insertDashboardSession } from "./account-store.ts";
import { DASHBOARD_COOKIE } from "./authenticate.ts";

const COOKIE_LIFE_MS = 7 * 86_400_000;

export interface AccountRouteDeps extends Deps {
  publicUrl(): string;
}

/** Sign-in of the dashboard: an API key for an HttpOnly cookie. */
export function accountRoutes(app: FastifyInstance, deps: AccountRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const cookie = () =>
    ({ path: "/", httpOnly: true, sameSite: "strict", secure: deps.publicUrl().startsWith("https:") }) as const;

  api.on(routes.signIn, async ({ body }, reply) => {
    const now = deps.clock.now();
    const principal = await findKey(deps.db, body.apiKey, now);
    if (!principal || principal.suspended) throw new Unauthenticated("this API key is not known here");
    // Always a new token: one that was planted before signing in is worth nothing.
    const token = randomBytes(32).toString("base64url");
    await insertDashboardSession(deps.db, { principal, token, now, expiresAt: now + COOKIE_LIFE_MS });
    reply.setCookie(DASHBOARD_COOKIE, token, { ...cookie(), maxAge: COOKIE_LIFE_MS / 1000 });
  });

  app.delete(routes.signOut.path, { schema: { summary: routes.signOut.summary } }, async (request, reply) => {
    const token = request.cookies[DASHBOARD_COOKIE];
    if (token) await deleteDashboardSession(deps.db, token);
    return reply.clearCookie(DASHBOARD_COOKIE, cookie()).code(204).send();
  });

  api.on(routes.getDashboardSession, async ({ principal }): Promise<DashboardSession> => {
    if (principal.cookieExpiresAt === null)
      throw new Unauthenticated("this address takes the dashboard's cookie, not a key");
    const { userId, projectId, keyName, keyPrefix, cookieExpiresAt } = principal;
    return { userId, projectId, keyName, keyPrefix, expiresAt: cookieExpiresAt };
  });
}
