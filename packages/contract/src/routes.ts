import { type TSchema, Type } from "typebox";
import { Account, DashboardSession, ServerSettings, SignIn } from "./account.ts";
import { ApiToken, CreatedApiToken, NewApiToken } from "./api-token.ts";
import { ErrorBody } from "./errors.ts";
import { Ingest } from "./ingest.ts";
import { ListQuery } from "./list.ts";
import { MultistreamTarget, MultistreamTargetPatch, NewMultistreamTarget } from "./multistream.ts";
import { PlaybackInfo } from "./playback.ts";
import { NewProject, Project, ProjectPatch } from "./project.ts";
import { Session } from "./session.ts";
import {
  NewStream,
  NewTargetRef,
  RecordPatch,
  Stream,
  StreamIds,
  StreamPatch,
  SuspendedPatch,
  TestBroadcast,
} from "./stream.ts";
import { StreamInfo } from "./stream-info.ts";

/** One operation of the API: where it is, who may call it, what goes in and what comes out. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `:name` for parameters. */
  readonly path: string;
  readonly summary: string;
  /** `key`: an API key or the dashboard's cookie; `dashboard`: the cookie alone. */
  readonly auth: "key" | "dashboard" | "none";
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Status of success and the schema of its body; null where there is none. */
  readonly success: { readonly status: 200 | 201 | 204; readonly body: TSchema | null };
  /** Statuses that the operation itself adds to 401 and 500. */
  readonly failures: readonly number[];
}

const none = { status: 204, body: null } as const;
const ok = <Body extends TSchema>(body: Body) => ({ status: 200, body }) as const;

const flag = (description: string) => Type.Optional(Type.String({ description }));

const streamList = Type.Object({
  ...ListQuery.properties,
  active: flag("Anything but `false`: only streams that are live or reconnecting"),
  streamsonly: flag("Accepted; streams are all that is listed"),
  sessionsonly: flag("Anything but `false`: an empty list, for sessions are not streams here"),
});

const forceUrl = { forceUrl: flag("Anything but `false`: `recordingUrl` and `mp4Url` before the recording is ready") };

const sessionList = Type.Object({
  ...ListQuery.properties,
  ...forceUrl,
  record: Type.Optional(Type.Enum(["true", "false", "1", "0"])),
});

/** Clips and assets come later; until then these lists are empty. */
const clipList = Type.Array(Type.Unknown());

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
    query: streamList,
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
  getStreamByPlaybackId: {
    method: "GET",
    path: "/api/stream/playback/:id",
    summary: "Get a stream by its playback id",
    auth: "key",
    success: ok(Stream),
    failures: [404],
  },
  getStreamByKey: {
    method: "GET",
    path: "/api/stream/key/:id",
    summary: "Get a stream by its stream key",
    auth: "key",
    success: ok(Stream),
    failures: [404],
  },
  getStreamInfo: {
    method: "GET",
    path: "/api/stream/:id/info",
    summary: "Get a stream and a session by an id, stream key, playback id or session id",
    auth: "key",
    success: ok(StreamInfo),
    failures: [404],
  },
  listStreamsOfUser: {
    method: "GET",
    path: "/api/stream/user/:id",
    summary: "List the streams that an account made",
    auth: "key",
    query: streamList,
    success: ok(Type.Array(Stream)),
    failures: [400, 404],
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
  patchStreamRecord: {
    method: "PATCH",
    path: "/api/stream/:id/record",
    summary: "Record a stream from its next session on, or not",
    auth: "key",
    body: RecordPatch,
    success: none,
    failures: [400, 404],
  },
  patchStreamSuspended: {
    method: "PATCH",
    path: "/api/stream/:id/suspended",
    summary: "Suspend a stream, which ends its broadcast, or let it go on",
    auth: "key",
    body: SuspendedPatch,
    success: none,
    failures: [404, 422],
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
    body: StreamIds,
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
  listChildSessions: {
    method: "GET",
    path: "/api/stream/sessions/:id",
    summary: "The same at its older address",
    auth: "key",
    query: sessionList,
    success: ok(Type.Array(Session)),
    failures: [400, 404],
  },
  listStreamClips: {
    method: "GET",
    path: "/api/stream/:id/clips",
    summary: "List the clips of a stream, by its id or playback id",
    auth: "key",
    success: ok(clipList),
    failures: [404],
  },
  addStreamTarget: {
    method: "POST",
    path: "/api/stream/:id/create-multistream-target",
    summary: "Add a multistream target to a stream; kept, and forwarded to in a later version",
    auth: "key",
    body: NewTargetRef,
    success: none,
    failures: [400, 404, 422],
  },
  removeStreamTarget: {
    method: "DELETE",
    path: "/api/stream/:id/multistream/:targetId",
    summary: "Remove a multistream target from a stream; the target itself stays",
    auth: "key",
    success: none,
    failures: [404],
  },
  createTarget: {
    method: "POST",
    path: "/api/multistream/target",
    summary: "Create a multistream target; kept, and forwarded to in a later version",
    auth: "key",
    body: NewMultistreamTarget,
    success: { status: 201, body: MultistreamTarget },
    failures: [422],
  },
  listTargets: {
    method: "GET",
    path: "/api/multistream/target",
    summary: "List multistream targets",
    auth: "key",
    query: Type.Object({ ...ListQuery.properties, userId: Type.Optional(Type.String()) }),
    success: ok(Type.Array(MultistreamTarget)),
    failures: [400],
  },
  getTarget: {
    method: "GET",
    path: "/api/multistream/target/:id",
    summary: "Get a multistream target",
    auth: "key",
    success: ok(MultistreamTarget),
    failures: [404],
  },
  patchTarget: {
    method: "PATCH",
    path: "/api/multistream/target/:id",
    summary: "Change a multistream target",
    auth: "key",
    body: MultistreamTargetPatch,
    success: none,
    failures: [404, 422],
  },
  deleteTarget: {
    method: "DELETE",
    path: "/api/multistream/target/:id",
    summary: "Delete a multistream target; streams forget it",
    auth: "key",
    success: none,
    failures: [404],
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
  listSessionClips: {
    method: "GET",
    path: "/api/session/:id/clips",
    summary: "List the clips of a session",
    auth: "key",
    success: ok(clipList),
    failures: [404],
  },
  getPlayback: {
    method: "GET",
    path: "/api/playback/:id",
    summary: "Where a stream or recording plays",
    auth: "none",
    query: Type.Object({ recordings: flag("`true`: with `dvrPlayback`; needs the owner's key") }),
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
  getServerSettings: {
    method: "GET",
    path: "/api/dashboard/settings",
    summary: "How this server is set up, without secrets",
    auth: "key",
    success: ok(ServerSettings),
    failures: [],
  },
  getAccount: {
    method: "GET",
    path: "/api/user/me",
    summary: "The account that asks",
    auth: "key",
    success: ok(Account),
    failures: [],
  },
  listProjects: {
    method: "GET",
    path: "/api/project",
    summary: "List projects: a key sees its own, the dashboard all of the account",
    auth: "key",
    success: ok(Type.Array(Project)),
    failures: [],
  },
  getProject: {
    method: "GET",
    path: "/api/project/:id",
    summary: "Get a project",
    auth: "key",
    success: ok(Project),
    failures: [404],
  },
  createProject: {
    method: "POST",
    path: "/api/project",
    summary: "Create a project",
    auth: "dashboard",
    body: NewProject,
    success: { status: 201, body: Project },
    failures: [400, 422],
  },
  patchProject: {
    method: "PATCH",
    path: "/api/project/:id",
    summary: "Rename a project",
    auth: "dashboard",
    body: ProjectPatch,
    success: none,
    failures: [400, 404, 422],
  },
  deleteProject: {
    method: "DELETE",
    path: "/api/project/:id",
    summary: "Delete a project that has no streams, and its API keys",
    auth: "dashboard",
    success: none,
    failures: [404, 409],
  },
  createApiToken: {
    method: "POST",
    path: "/api/api-token",
    summary: "Create an API key; its text is in this answer alone",
    auth: "dashboard",
    body: NewApiToken,
    success: { status: 201, body: CreatedApiToken },
    failures: [400, 422],
  },
  listApiTokens: {
    method: "GET",
    path: "/api/api-token",
    summary: "List API keys",
    auth: "dashboard",
    query: ListQuery,
    success: ok(Type.Array(ApiToken)),
    failures: [400],
  },
  getApiToken: {
    method: "GET",
    path: "/api/api-token/:id",
    summary: "Get an API key's record",
    auth: "dashboard",
    success: ok(ApiToken),
    failures: [404],
  },
  deleteApiToken: {
    method: "DELETE",
    path: "/api/api-token/:id",
    summary: "Delete an API key; it is refused from then on",
    auth: "dashboard",
    success: none,
    failures: [404, 409],
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** The error body that every route may answer. */
export const errorResponse = ErrorBody;
