import { type CreatedApiToken, routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { ApiError, ApiRoutes, answerPage, BadRequest, NotFound, parseListQuery } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { checkAccess } from "./access.ts";
import { newApiKey } from "./api-key.ts";
import {
  apiTokenFields,
  countApiTokens,
  deleteApiToken,
  findApiToken,
  insertApiToken,
  listApiTokens,
} from "./api-token-store.ts";
import { requireAccount } from "./request-guard.ts";

const MAX_KEYS = 1000;
const NEWEST_FIRST = "createdAt-true";

/** Without this key nobody could sign in to fix it. */
class KeyInUse extends ApiError {
  constructor() {
    super(409, "key-in-use", "you are signed in with this API key: sign in with another one to delete it");
  }
}

/** API keys, managed from a signed-in dashboard session. */
export function apiTokenRoutes(app: FastifyInstance, deps: Deps): void {
  const { db, clock } = deps;
  const api = new ApiRoutes(app, deps);

  api.on(
    routes.createApiToken,
    async ({ principal, body }): Promise<CreatedApiToken> => {
      const { name = "API key", access = null } = body;
      if (access) checkAccess(access);
      if ((await countApiTokens(db, sql`where project_id = ${principal.projectId}`)) >= MAX_KEYS)
        throw new BadRequest(`a project has at most ${MAX_KEYS} API keys: delete one first`);
      const key = newApiKey();
      return { ...(await insertApiToken(db, principal, { key, name, access, now: clock.now() })), key };
    },
    { mayBeEmpty: true, showsSecret: true },
  );

  api.on(routes.listApiTokens, async ({ principal, query, origin, url }, reply) => {
    const page = await listApiTokens(db, principal, parseListQuery(query, apiTokenFields, NEWEST_FIRST));
    return answerPage(reply, page, { origin, url });
  });

  api.on(routes.getApiToken, async ({ principal, id }) => {
    const token = await findApiToken(db, principal, id);
    if (!token) throw new NotFound();
    return token;
  });

  api.on(routes.deleteApiToken, async ({ principal, id }) => {
    const token = await findApiToken(db, principal, id);
    if (!token) throw new NotFound();
    if (id === principal.keyId) throw new KeyInUse();
    if (token.accountWide) requireAccount(principal);
    await deleteApiToken(db, principal, id);
  });
}
