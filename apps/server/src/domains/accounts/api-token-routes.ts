import { type CreatedApiToken, routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiError, ApiRoutes, BadRequest, found, listOf } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { deleteOwned, findOwned } from "../owned-row.ts";
import { checkAccess } from "./access.ts";
import { newApiKey } from "./api-key.ts";
import { apiTokenFields, apiTokenRecord, countApiTokens, insertApiToken } from "./api-token-store.ts";
import { requireAccount } from "./request-guard.ts";

const MAX_KEYS = 1000;

/** API keys, managed from a signed-in dashboard session. */
export function apiTokenRoutes(app: FastifyInstance, deps: Deps): void {
  const { db, clock } = deps;
  const api = new ApiRoutes(app, deps);

  api.on(
    routes.createApiToken,
    async ({ principal, body }): Promise<CreatedApiToken> => {
      const { name = "API key", access = null } = body;
      if (access) checkAccess(access);
      if ((await countApiTokens(db, principal)) >= MAX_KEYS)
        throw new BadRequest(`a project has at most ${MAX_KEYS} API keys: delete one first`);
      const key = newApiKey();
      return { ...(await insertApiToken(db, principal, { key, name, access, now: clock.now() })), key };
    },
    { mayBeEmpty: true, showsSecret: true },
  );

  const list = { fields: apiTokenFields, order: "createdAt-true", shown: apiTokenRecord };
  api.on(routes.listApiTokens, listOf(db, "api_key", list));

  api.on(routes.getApiToken, async ({ principal, id }) =>
    apiTokenRecord(found(await findOwned(db, "api_key", principal, id))),
  );

  /** Its row takes the dashboard sessions along that it signed in. */
  api.on(routes.deleteApiToken, async ({ principal, id }) => {
    const token = found(await findOwned(db, "api_key", principal, id));
    // Without this key nobody could sign in to fix it.
    if (id === principal.keyId)
      throw new ApiError(
        409,
        "key-in-use",
        "you are signed in with this API key: sign in with another one to delete it",
      );
    if (token.account_wide) requireAccount(principal);
    await deleteOwned(db, "api_key", principal, id);
  });
}
