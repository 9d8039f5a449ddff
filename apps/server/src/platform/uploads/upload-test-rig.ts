import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fastify } from "fastify";
import { systemClock } from "../clock.ts";
import { createHttpServer, type HttpHandler } from "../http/http-server.ts";
import { TrustedProxies } from "../http/trusted-proxies.ts";
import { Listener } from "../listener.ts";
import { silentLog } from "../log.ts";
import { ManualClock } from "../manual-clock-rig.ts";
import { Outbound } from "../outbound/outbound.ts";
import { LocalObjectStore } from "../storage/local-object-store.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { UploadRefused } from "./upload-refused.ts";
import { UPLOAD_PREFIXES, UploadServer } from "./upload-server.ts";

export interface UploadRig extends AsyncDisposable {
  readonly url: string;
  readonly handle: HttpHandler;
  readonly clock: ManualClock;
  readonly server: UploadServer;
  readonly folder: string;
  readonly disk: { freeBytes: number };
  /** Complete uploads, by id. */
  readonly received: Map<string, number>;
  readonly expired: Set<string>;
  /** Uploads that this node has no more. */
  readonly released: readonly string[];
  /** What the database does with the next news of a complete file: nothing, or it keeps it and its answer is lost. */
  readonly database: { next: "away" | "answer-lost" | null };
  /** If set, the object store is unavailable. */
  readonly away: { isAway: boolean };
  stored(id: string): Promise<Buffer>;
  /** Bytes of an upload on the disk. */
  spooledBytes(id: string): Promise<number>;
  /** Another server on the same disk, as after a kill: the first one is not closed, and learns nothing more. */
  restart(): Promise<void>;
}

export const MAX_BYTES = 20_000_000;
export const tokenOf = (id: string): string => `token-${id}`;

async function localStore(folder: string): Promise<ObjectStore> {
  const store = new LocalObjectStore(folder);
  await store.open();
  return store;
}

/** Real HTTP over a spool on disk; the form of the token decides who may upload. */
export async function startUploads({
  allowPrivate = true,
  store: given,
}: {
  allowPrivate?: boolean;
  store?: ObjectStore;
} = {}): Promise<UploadRig> {
  const folder = await mkdtemp(join(tmpdir(), "weir-uploads-"));
  const store = given ?? (await localStore(join(folder, "objects")));
  const clock = new ManualClock();
  const disk = { freeBytes: 2 ** 40 };
  const released: string[] = [];
  const away = { isAway: false };
  const database: UploadRig["database"] = { next: null };
  const received = new Map<string, number>();
  const expired = new Set<string>();
  const storedIds = new Set<string>();
  const build = async () => {
    const server = new UploadServer({
      folder: join(folder, "spool"),
      freeBytes: () => disk.freeBytes,
      gate: {
        async admit(token) {
          if (token === null) throw new UploadRefused(401, "no token");
          const id = /^token-([a-z0-9-]+)$/.exec(token)?.[1];
          if (!id || expired.has(id)) throw new UploadRefused(403, "Invalid signed upload URL");
          if (received.has(id)) throw new UploadRefused(422, "asset has already been uploaded");
          return { id, maxBytes: MAX_BYTES };
        },
        touched: async () => {},
        released: async (id) => void released.push(id),
        elsewhere: async () => null,
        async received(id, bytes) {
          if (expired.has(id)) throw new UploadRefused(422, "this upload has expired");
          const { next } = database;
          database.next = null;
          if (next === "away") throw new Error("the database is away");
          received.set(id, bytes);
          if (next === "answer-lost") throw new Error("the connection was lost");
          return `v1/test/${id}`;
        },
        stored: async (id) => void storedIds.add(id),
        wanted: async (ids) => new Set(ids.filter((id) => !expired.has(id) && !storedIds.has(id))),
      },
      store: {
        async putFile(key, path) {
          if (away.isAway) throw new Error("the store is away");
          await store.putFile(key, path);
        },
      },
      proxies: new TrustedProxies([]),
      // Time limits of calls are real, as the hosts in tests are.
      outbound: new Outbound({
        clock: systemClock,
        allowPrivate,
        own: () => ({ ports: [], publicUrl: "http://weir.test" }),
      }),
      clock,
      log: silentLog,
    });
    await server.open();
    return server;
  };
  const rig = { server: await build() };
  const app = fastify();
  const http = await createHttpServer({
    listener: new Listener("HTTP", "127.0.0.1", 0),
    media: (_request, response) => void response.writeHead(404).end(),
    mediaPrefixes: [],
    uploads: { prefixes: UPLOAD_PREFIXES, handle: (request, response) => rig.server.handle(request, response) },
    app,
    clock,
  });
  return {
    url: `http://127.0.0.1:${http.port}`,
    handle: (request, response) => rig.server.handle(request, response),
    clock,
    get server() {
      return rig.server;
    },
    folder: join(folder, "spool"),
    disk,
    received,
    expired,
    released,
    away,
    database,
    spooledBytes: async (id) => (await stat(join(folder, "spool", `${id}.bytes`)).catch(() => ({ size: 0 }))).size,
    stored: async (id) => buffer(await store.read(`v1/test/${id}`)),
    async restart() {
      rig.server = await build();
    },
    async [Symbol.asyncDispose]() {
      http.server.closeAllConnections();
      await http.close();
      await Promise.race([rig.server.close(), rig.server.settle()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
