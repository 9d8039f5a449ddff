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
import { deleteSessions, type SessionDeletionDeps } from "./session-deletion.ts";
import { sessionRecord } from "./session-record.ts";
import { findSession, listSessions, ownsStream, sessionFields, withMedia } from "./session-store.ts";

const NEWEST_FIRST = "lastSeen-true,createdAt-true";
const RECORD: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false };

export interface SessionRouteDeps extends SessionDeletionDeps {
  publicUrl(): string;
}

interface ListAsked {
  readonly principal: Principal;
  readonly query: RawQuery;
  readonly url: string;
}

export function sessionRoutes(app: FastifyInstance, deps: SessionRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const view = ({ forceUrl }: RawQuery) => ({ publicUrl: deps.publicUrl(), forceUrl: isSet(forceUrl) });

  const list = async ({ principal, query, url }: ListAsked, reply: FastifyReply, also: RawBuilder<unknown>) => {
    const page = await listSessions(deps.db, principal, parseListQuery(query, sessionFields, NEWEST_FIRST), also);
    const items = page.items.map((row) => sessionRecord(row, view(query)));
    return answerPage(reply, { ...page, items }, { origin: deps.publicUrl(), url });
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

  api.on(routes.getSession, async ({ principal, id, query }): Promise<Session> => {
    const row = await findSession(deps.db, principal, id);
    if (!row) throw new NotFound();
    return sessionRecord(row, { ...view(query), sourceRecording: query.sourceRecording === "true" });
  });

  api.on(routes.deleteSession, async ({ principal, id }) => deleteSessions(deps, principal, [id]));
  api.on(routes.deleteSessions, async ({ principal, body }) => deleteSessions(deps, principal, body.ids), {
    mayBeEmpty: true,
  });

  // Nothing makes clips yet.
  api.on(routes.listSessionClips, async ({ principal, id }) => {
    if (!(await findSession(deps.db, principal, id))) throw new NotFound("Session not found");
    return [];
  });
  api.on(routes.listStreamClips, async ({ principal, id }) => {
    const owns = (column: "id" | "playback_id") => ownsStream(deps.db, principal, id, column);
    if (!(await owns("id")) && !(await owns("playback_id"))) throw new NotFound("Stream not found");
    return [];
  });
}
