import { Type } from "typebox";
import { Asset } from "../asset.ts";
import { ListQuery } from "../list.ts";
import { flag, none, ok, type Route } from "../route.ts";
import { Session, SessionIds } from "../session.ts";

const forceUrl = { forceUrl: flag("Anything but `false`: `recordingUrl` and `mp4Url` before the recording is ready") };

const sessionList = Type.Object({
  ...ListQuery.properties,
  ...forceUrl,
  record: Type.Optional(Type.Enum(["true", "false", "1", "0"])),
});

/** Sessions: of one stream, of all streams, and single ones. */
export const sessionRoutes = {
  listStreamSessions: {
    method: "GET",
    path: "/api/stream/:id/sessions",
    summary: "List the sessions of a stream that have media",
    auth: "key",
    query: sessionList,
    success: ok(Type.Array(Session)),
    failures: [400, 404],
  },
  listChildSessions: {
    method: "GET",
    path: "/api/stream/sessions/:id",
    summary: "List the sessions of a stream, at its older URL",
    auth: "key",
    query: sessionList,
    success: ok(Type.Array(Session)),
    failures: [400, 404],
  },
  listSessions: {
    method: "GET",
    path: "/api/session",
    summary: "List sessions",
    auth: "key",
    query: Type.Object({ ...ListQuery.properties, ...forceUrl, parentId: Type.Optional(Type.String()) }),
    success: ok(Type.Array(Session)),
    failures: [400],
  },
  getSession: {
    method: "GET",
    path: "/api/session/:id",
    summary: "Get a session",
    auth: "key",
    query: Type.Object({ ...forceUrl, sourceRecording: flag("`true`: with `sourceRecordingUrl`") }),
    success: ok(Session),
    failures: [404],
  },
  deleteSession: {
    method: "DELETE",
    path: "/api/session/:id",
    summary: "Delete the recording of a session that has ended; the session stays, with `recordingStatus: deleted`",
    auth: "key",
    success: none,
    failures: [404, 409],
  },
  deleteSessions: {
    method: "DELETE",
    path: "/api/session",
    summary: "Delete the recordings of several sessions; all or none",
    auth: "key",
    body: SessionIds,
    success: none,
    failures: [404, 409, 422],
  },
  listSessionClips: {
    method: "GET",
    path: "/api/session/:id/clips",
    summary: "List the clips of a session",
    auth: "key",
    success: ok(Type.Array(Asset)),
    failures: [404],
  },
} as const satisfies Record<string, Route>;
