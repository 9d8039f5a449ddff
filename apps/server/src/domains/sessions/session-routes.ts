import { routes, type Session } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { NotFound } from "../api-error.ts";
import { ApiRoutes } from "../api-routes.ts";
import type { Deps } from "../deps.ts";
import { isId } from "../ids.ts";
import { answerPage } from "../list-answer.ts";
import { type Page, parseListQuery } from "../list-query.ts";
import { type SessionWithParent, sessionRecord } from "./session-record.ts";
import { findSession, listSessions, ownsStream, sessionFields, withMedia } from "./session-store.ts";

const NEWEST_FIRST = "lastSeen-true,createdAt-true";
const RECORD: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false };

export interface SessionRouteDeps extends Deps {
  publicUrl(): string;
}

export function sessionRoutes(app: FastifyInstance, deps: SessionRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const records = (page: Page<SessionWithParent>): Page<Session> => ({
    ...page,
    items: page.items.map((row) => sessionRecord(row, deps.publicUrl())),
  });

  api.on(routes.listSessions, async ({ principal, query, url }, reply) => {
    const list = parseListQuery(query, sessionFields, NEWEST_FIRST);
    const { parentId } = query;
    const ofParent =
      typeof parentId === "string" ? sql`e.stream_id::text = ${parentId.replaceAll("\0", "")}` : sql`true`;
    const page = await listSessions(deps.db, principal, list, ofParent);
    return answerPage(reply, records(page), { origin: deps.publicUrl(), url });
  });

  api.on(routes.getSession, async ({ principal, id }): Promise<Session> => {
    const row = isId(id) ? await findSession(deps.db, principal, id) : undefined;
    if (!row) throw new NotFound();
    return sessionRecord(row, deps.publicUrl());
  });

  api.on(routes.listStreamSessions, async ({ principal, id, query, url }, reply) => {
    const list = parseListQuery(query, sessionFields, NEWEST_FIRST);
    if (!isId(id) || !(await ownsStream(deps.db, principal, id))) throw new NotFound();
    const record = RECORD[String(query.record)] ?? null;
    const page = await listSessions(deps.db, principal, list, withMedia(id, record));
    return answerPage(reply, records(page), { origin: deps.publicUrl(), url });
  });
}
