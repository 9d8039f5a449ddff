import { Readable } from "node:stream";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import { Audiences } from "../platform/audience/index.ts";
import { systemClock } from "../platform/clock.ts";
import { openDatabase } from "../platform/database.ts";
import { createApp } from "../platform/http/app.ts";
import { TrustedProxies } from "../platform/http/trusted-proxies.ts";
import { type Log, silentLog } from "../platform/log.ts";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import { Outbound } from "../platform/outbound/outbound.ts";
import { createTestDatabase } from "../platform/postgres/postgres-test-database.ts";
import type {
  ClipMoments,
  ClipWork,
  ExportWork,
  MadeMedia,
  PlaybackRequest,
  StopReason,
  StreamMove,
  TranscodeWork,
} from "../ports/index.ts";
import { hashSecret } from "./accounts/api-key.ts";
import { Passwords } from "./accounts/password.ts";
import { findUndocumentedErrors } from "./api/openapi/undocumented-errors-rig.ts";
import { newId } from "./ids.ts";
import { createDomains, type DomainSettings, type Domains, type Processors, type Schema } from "./index.ts";
import type { Db } from "./schema.ts";

export const WINDOW_MS = 30_000;

/** The requests to the media floor. */
export interface Asked {
  readonly stops: { readonly streamId: string; readonly why: StopReason }[];
  readonly sources: { readonly url: string; readonly headers: Readonly<Record<string, string>> }[];
  readonly broadcasts: { readonly streamKey: string; readonly seconds: number }[];
  /** Streams that came here from another node. */
  readonly moves: StreamMove[];
  /** Playback ids about which kept answers were to be asked for again. */
  readonly accessChanges: (string | "all")[];
  /** Streams whose sessions were to ask for their targets. */
  readonly targetChanges: string[];
  /** Addresses from which files were to be fetched. */
  readonly imports: string[];
  /** Recordings whose MP4 the media floor was asked to measure. */
  readonly measured: string[];
  /** Moments that the media floor was asked to store. */
  readonly moments: ClipMoments[];
  /** Clips that it was asked to make. */
  readonly clips: ClipWork[];
  /** Files that it was asked to transcode. */
  readonly transcodes: TranscodeWork[];
  /** Files that it was asked to send to customers. */
  readonly exports: ExportWork[];
  /** The objects that the store was told to delete. */
  readonly removedKeys: string[];
  /** Objects that the store fails to delete. */
  readonly stuckKeys: string[];
  readonly removedPrefixes: string[];
  failsToRemove: boolean;
  /** The store does not answer. */
  hangs?: Promise<void>;
}

/** A domain floor over a real, empty database and a clock that stands still, with its API in memory. */
export interface TestDomains extends AsyncDisposable {
  readonly db: Db;
  /** The connections of questions that anybody may ask. */
  readonly viewers: Db;
  readonly clock: ManualClock;
  readonly log: Log;
  readonly domains: Domains;
  /** A media floor that makes nothing, and notes what it was asked for. */
  readonly processors: Processors;
  readonly asked: Asked;
  /** API key of the first account. */
  readonly apiKey: string;
  /** Every operation that the app has a route for: `GET /api/stream/:id`. */
  readonly operations: readonly string[];
  /** A request with that key unless told otherwise. Throws if it is answered with an error that the operation's description does not name. */
  call(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
  stopDatabase(): Promise<void>;
  /** Another process on the same rows: of the same node after a restart, or of another node. */
  another(nodeName: string, place?: string, address?: string): Domains;
}

const QUICK = { ln: 4, r: 8, p: 1 };

export interface TestOptions {
  /** Whose `X-Forwarded-For` counts; requests come from 127.0.0.1. */
  readonly proxies?: readonly string[];
  readonly passwords?: Passwords;
  /** The log of API and domains. */
  readonly log?: Log;
  /** Whether webhooks and imports may go to private addresses, where the receivers of tests are. */
  readonly allowPrivateUrls?: boolean;
}

export async function startTestDomains(
  settings: Partial<DomainSettings> = {},
  { proxies = [], passwords = new Passwords(QUICK), log = silentLog, allowPrivateUrls = true }: TestOptions = {},
): Promise<TestDomains> {
  const rows = await createTestDatabase();
  const database = await openDatabase<Schema>(rows.address, silentLog, systemClock);
  const { db } = database;
  const clock = new ManualClock();
  const asked: Asked = {
    stops: [],
    moves: [],
    sources: [],
    broadcasts: [],
    accessChanges: [],
    targetChanges: [],
    imports: [],
    measured: [],
    moments: [],
    clips: [],
    transcodes: [],
    exports: [],
    removedKeys: [],
    stuckKeys: [],
    removedPrefixes: [],
    failsToRemove: false,
  };
  const processors: Processors = {
    importFile: async (request) => void asked.imports.push(request.url),
    assetProcessor: {
      process: async ({ assetId, projectId, outPrefix }) => nothingMade(assetId, projectId, outPrefix),
    },
    fileTranscoder: {
      transcode: async (work) => {
        asked.transcodes.push(work);
        return { format: "mp4", duration: 1, tracks: [] };
      },
    },
    fileExporter: { send: async (work) => void asked.exports.push(work) },
    clipMaker: {
      async make(work) {
        asked.clips.push(work);
        return nothingMade(work.assetId, work.projectId, work.outPrefix);
      },
      findWindow: async () => null,
      dropWindow: async () => {},
    },
  };
  const build = (nodeName: string, nodePlace = `folder of ${nodeName}`, nodeAddress?: string) =>
    createDomains({
      audiences: new Audiences(null),
      database,
      clock,
      log,
      settings: {
        nodeName,
        nodePlace,
        ...(nodeAddress !== undefined && { nodeAddress }),
        region: "local",
        roles: ["api", "media", "worker"],
        rateLimit: 0,
        streamsPerProject: 0,
        recordingDays: 0,
        dvrMaxHours: 24,
        spoolWaitMs: 600_000,
        assetDays: 0,
        maxUploadBytes: 1024 ** 3,
        assetBytesPerProject: 0,
        uploadsPerProject: 0,
        keepOriginals: () => true,
        viewerLimit: 0,
        viewersPerCredential: 0,
        effectiveSettings: [],
        sseEventName: "service_event",
        reconnectWindowMs: WINDOW_MS,
        publicUrl: () => "http://weir.test",
        headroom: () => ({ disk: { freeBytes: 1, totalBytes: 2 } }),
        isPublicUrlSet: true,
        ingestPorts: () => ({ rtmp: 1935, rtmps: null, srt: null }),
        srtPassphrase: null,
        ...settings,
      },
      passwords,
      mediaControl: {
        moved: async (move) => void asked.moves.push(move),
        stop: async (streamId, why) => void asked.stops.push({ streamId, why }),
        accessChanged: async (playbackId) => void asked.accessChanges.push(playbackId),
        storeMoments: async (moments) => {
          asked.moments.push(moments);
          return "stored";
        },
        targetsChanged: async (streamId) => void asked.targetChanges.push(streamId),
        measureRecording: async ({ id }) => void asked.measured.push(id),
        trySource: async (source) => {
          asked.sources.push(source);
          return { tracks: [{ kind: "video", codec: "avc1.640028" }], leftOut: null, problem: null };
        },
        startTestBroadcast: async (streamKey, seconds) => void asked.broadcasts.push({ streamKey, seconds }),
      },
      store: {
        async delete(key) {
          if (asked.stuckKeys.includes(key)) throw new Error("the object cannot be deleted");
          asked.removedKeys.push(key);
        },
        async deletePrefix(prefix) {
          await asked.hangs;
          if (asked.failsToRemove) throw new Error("the store is away");
          asked.removedPrefixes.push(prefix);
        },
        children: async () => [],
        read: async (key) => Readable.from([key]),
      },
      // Time limits of calls are real, as the receivers of tests are.
      outbound: new Outbound({
        clock: systemClock,
        allowPrivate: allowPrivateUrls,
        own: () => ({ ports: [1935], publicUrl: "http://weir.test" }),
      }),
    });
  const domains = build("one");
  const apiKey = (await domains.ensureFirstAccount()) ?? "";
  await domains.node.join();
  const app = await createApp({
    log,
    proxies: new TrustedProxies(proxies),
    openPrefixes: ["/api/playback"],
    ownOrigin: () => "http://weir.test",
  });
  const operations: string[] = [];
  app.addHook("onRoute", ({ method, url }) => void operations.push(...[method].flat().map((verb) => `${verb} ${url}`)));
  const undocumented = findUndocumentedErrors(app);
  await app.register((scope) => domains.routes(scope));
  return {
    db,
    viewers: database.viewers,
    clock,
    log,
    domains,
    processors,
    asked,
    apiKey,
    operations,
    async call(method, url, body, headers = { authorization: `Bearer ${apiKey}` }) {
      const payload = body === undefined ? {} : { payload: body as NonNullable<InjectOptions["payload"]> };
      const answer = await app.inject({ method, url, headers, ...payload });
      const [error] = undocumented.splice(0);
      if (error) throw new Error(`${error}: name it in the operation's description, in packages/contract`);
      return answer;
    },
    stopDatabase: () => rows.cutOff(),
    another: build,
    async [Symbol.asyncDispose]() {
      await app.close();
      await domains.close();
      await database.close();
      await rows.drop();
    },
  };
}

const nothingMade = (id: string, projectId: string, keyPrefix: string): MadeMedia => ({
  spec: { format: "mp4", duration: 1, tracks: [] },
  media: { id, projectId, keyPrefix, renditions: [], mp4s: [] },
});

/** Make another account with a project and a key of its own. */
export async function addProject(db: Db, name: string): Promise<{ apiKey: string; userId: string }> {
  const [userId, projectId] = [newId(), newId()];
  const apiKey = `key-of-${name}`;
  const row = { created_at: Number.MAX_SAFE_INTEGER, name };
  await db
    .insertInto("account")
    .values({ id: userId, ...row })
    .execute();
  await db
    .insertInto("project")
    .values({ id: projectId, user_id: userId, ...row })
    .execute();
  const key = { id: newId(), project_id: projectId, user_id: userId, prefix: "", hash: hashSecret(apiKey), ...row };
  await db
    .insertInto("api_key")
    .values({ ...key, account_wide: true })
    .execute();
  return { apiKey, userId };
}

/** An access request of somebody who brings nothing. */
export function viewerOf(playbackId: string, credentials: Partial<PlaybackRequest> = {}): PlaybackRequest {
  const viewer = {
    protocol: "hls",
    address: "127.0.0.1",
    url: "",
    host: "",
    userAgent: "",
    referer: "",
    origin: null,
  } as const;
  return { playbackId, tokens: [], accessKeys: [], viewer, ...credentials };
}
