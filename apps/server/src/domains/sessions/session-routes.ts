import { routes, type Session } from "@weir/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type RawBuilder, sql } from "kysely";
import {
  ApiRoutes,
  answerPage,
  isSet,
  NotFound,
  type Principal,
  parseListQuery,
  type RawQuery,
  textOf,
} from "../api/index.ts";
import { ownsStream } from "../owned-row.ts";
import { deleteSessions, type SessionDeletionDeps } from "./session-deletion.ts";
import { sessionRecord } from "./session-record.ts";
import { findSession, listSessions, sessionFields, withMedia } from "./session-store.ts";

const NEWEST_FIRST = "lastSeen-true,createdAt-true";
const RECORD: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false };

interface ListAsked {
  readonly principal: Principal;
  readonly query: RawQuery;
  readonly origin: string;
  readonly url: string;
}

export function sessionRoutes(app: FastifyInstance, deps: SessionDeletionDeps): void {
  const api = new ApiRoutes(app, deps);
  const view = ({ origin, query }: Pick<ListAsked, "origin" | "query">) => ({
    publicUrl: origin,
    forceUrl: isSet(query.forceUrl),
  });

  const list = async (asked: ListAsked, reply: FastifyReply, also: RawBuilder<unknown>) => {
    const { principal, query, origin, url } = asked;
    const page = await listSessions(deps.db, principal, parseListQuery(query, sessionFields, NEWEST_FIRST), also);
    const items = page.items.map((row) => sessionRecord(row, view(asked)));
    return answerPage(reply, { ...page, items }, { origin, url });
  };

  const listOfStream = async (asked: ListAsked & { id: string }, reply: FastifyReply) => {
    const { principal, id, query } = asked;
    if (!(await ownsStream(deps.db, principal, id))) throw new NotFound();
    return list(asked, reply, withMedia(id, RECORD[String(query.record)] ?? null));
  };

  api.on(routes.listStreamSessions, listOfStream);
  api.on(routes.listChildSessions, listOfStream);
  api.on(routes.listSessions, async (request, reply) => {
    const parentId = textOf(request.query.parentId);
    return list(request, reply, parentId === undefined ? sql`true` : sql`e.stream_id::text = ${parentId}`);
  });

  api.on(routes.getSession, async ({ principal, id, query, origin }): Promise<Session> => {
    const row = await findSession(deps.db, principal, id);
    if (!row) throw new NotFound();
    return sessionRecord(row, { ...view({ origin, query }), sourceRecording: query.sourceRecording === "true" });
  });

  api.on(routes.deleteSession, async ({ principal, id }) => deleteSessions(deps, principal, [id]));
  api.on(routes.deleteSessions, async ({ principal, body }) => deleteSessions(deps, principal, body.ids), {
    mayBeEmpty: true,
  });
}
