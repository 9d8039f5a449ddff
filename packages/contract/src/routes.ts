import { type TSchema, Type } from "typebox";
import { DashboardSession, SignIn } from "./account.ts";
import { ErrorBody } from "./errors.ts";
import { exact, Id } from "./exact.ts";
import { Ingest } from "./ingest.ts";
import { ListQuery } from "./list.ts";
import { PlaybackInfo } from "./playback.ts";
import { Session } from "./session.ts";
import { NewStream, Stream, StreamPatch, TestBroadcast } from "./stream.ts";

/** One operation of the API: where it is, who may call it, what goes in and what comes out. */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `:name` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly auth: "key" | "none";
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Status of success and the schema of its body; null where there is none. */
  readonly success: { readonly status: 200 | 201 | 204; readonly body: TSchema | null };
  /** Statuses that the operation itself adds to 401 and 500. */
  readonly failures: readonly number[];
}

const none = { status: 204, body: null } as const;
const ok = <Body extends TSchema>(body: Body) => ({ status: 200, body }) as const;

const sessionList = Type.Object({
  ...ListQuery.properties,
  record: Type.Optional(Type.Enum(["true", "false", "1", "0"])),
});

/** Every operation by name. OpenAPI, the client and the ownership tests are made from it. */
export const routes = {
  createStream: {
    method: "POST",
    path: "/api/stream",
    summary: "Create a stream",
    auth: "key",
    body: NewStream,
    success: { status: 201, body: Stream },
    failures: [400, 422],
  },
  listStreams: {
    method: "GET",
    path: "/api/stream",
    summary: "List streams",
    auth: "key",
    query: ListQuery,
    success: ok(Type.Array(Stream)),
    failures: [400],
  },
  getStream: {
    method: "GET",
    path: "/api/stream/:id",
    summary: "Get a stream",
    auth: "key",
    success: ok(Stream),
    failures: [404],
  },
  patchStream: {
    method: "PATCH",
    path: "/api/stream/:id",
    summary: "Change a stream",
    auth: "key",
    body: StreamPatch,
    success: none,
    failures: [400, 404, 422],
  },
  deleteStream: {
    method: "DELETE",
    path: "/api/stream/:id",
    summary: "Delete a stream; ends its broadcast",
    auth: "key",
    success: none,
    failures: [404],
  },
  deleteStreams: {
    method: "DELETE",
    path: "/api/stream",
    summary: "Delete several streams; all or none",
    auth: "key",
    body: exact({ ids: Type.Optional(Type.Array(Id, { maxItems: 1000 })) }),
    success: none,
    failures: [404, 422],
  },
  terminateStream: {
    method: "DELETE",
    path: "/api/stream/:id/terminate",
    summary: "End the present broadcast; the broadcaster may come back",
    auth: "key",
    success: none,
    failures: [404, 429],
  },
  testBroadcast: {
    method: "POST",
    path: "/api/stream/:id/test-broadcast",
    summary: "Send the stream a generated picture and tone",
    auth: "key",
    body: TestBroadcast,
    success: none,
    failures: [400, 404, 422],
  },
  listStreamSessions: {
    method: "GET",
    path: "/api/stream/:id/sessions",
    summary: "List the sessions of a stream that have media",
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
    query: Type.Object({ ...ListQuery.properties, parentId: Type.Optional(Type.String()) }),
    success: ok(Type.Array(Session)),
    failures: [400],
  },
  getSession: {
    method: "GET",
    path: "/api/session/:id",
    summary: "Get a session",
    auth: "key",
    success: ok(Session),
    failures: [404],
  },
  getPlayback: {
    method: "GET",
    path: "/api/playback/:id",
    summary: "Where a stream or recording plays",
    auth: "none",
    success: ok(PlaybackInfo),
    failures: [404, 422],
  },
  getIngest: {
    method: "GET",
    path: "/api/ingest",
    summary: "Where to publish to",
    auth: "none",
    success: ok(Type.Array(Ingest)),
    failures: [],
  },
  signIn: {
    method: "POST",
    path: "/api/dashboard/sign-in",
    summary: "Exchange an API key for the dashboard's cookie",
    auth: "none",
    body: SignIn,
    success: none,
    failures: [401, 422],
  },
  signOut: {
    method: "DELETE",
    path: "/api/dashboard/sign-in",
    summary: "Forget the dashboard's cookie",
    auth: "none",
    success: none,
    failures: [],
  },
  getDashboardSession: {
    method: "GET",
    path: "/api/dashboard/session",
    summary: "Who is signed in",
    auth: "key",
    success: ok(DashboardSession),
    failures: [],
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** The error body that every route may answer. */
export const errorResponse = ErrorBody;
