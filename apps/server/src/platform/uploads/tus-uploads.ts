import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { Server } from "@tus/server";
import { DataStore, ERRORS, type Locker, Metadata, Upload } from "@tus/utils";
import type { OtherNodes } from "../cluster/index.ts";
import { requestIdOf } from "../http/request-id.ts";
import type { Log } from "../log.ts";
import type { UploadGate } from "./upload-gate.ts";
import { UploadRefused, uploadErrorBody } from "./upload-refused.ts";
import type { Checksum, SpooledUpload, UploadSpool } from "./upload-spool.ts";
import type { UploadTraffic } from "./upload-traffic.ts";

const PATH = "/api/asset/upload/tus";
/** Without a byte for this long, an unfinished upload is abandoned. */
export const UPLOAD_EXPIRES_MS = 24 * 3_600_000;
const ALGORITHMS = ["md5", "sha1", "sha256"] as const;
/** The library keeps metadata, and repeats it in every response to `HEAD`; clients read heads of at most 16 KiB. */
const MAX_METADATA = 8 * 1024;
/** `{upload}.{secret}`: its holder may continue without a token. */
const ADDRESS = /^([a-z0-9-]{1,64})\.([0-9a-f]{32})$/;

export interface TusUploadsSettings {
  readonly spool: UploadSpool;
  readonly traffic: UploadTraffic;
  readonly gate: UploadGate;
  readonly log: Log;
  readonly onReceived: (id: string) => void;
  readonly others?: Pick<OtherNodes, "sendTo"> | null;
}

export interface TusRequest {
  readonly client: string;
  readonly pathname: string;
  readonly token: string | null;
  readonly isForwarded: boolean;
}

/** Data that the library does not pass from the request to the store. */
interface Exchange {
  readonly requestId: string;
  /** URL of an upload that is about to be created. */
  readonly address: string;
  readonly maxBytes: number;
  readonly checksum: Checksum | undefined;
}

/**
 * tus 1.0 with creation, termination, expiration and checksum. The library implements the protocol. Weir decides who may upload, allows one
 * writer at a time, places the bytes, and verifies checksums.
 */
export class TusUploads {
  readonly #settings: TusUploadsSettings;
  readonly #server: Server;
  readonly #exchange = new AsyncLocalStorage<Exchange>();

  constructor(settings: TusUploadsSettings) {
    const { spool, gate, log, onReceived } = settings;
    this.#settings = settings;
    this.#server = new Server({
      path: PATH,
      relativeLocation: true,
      // The upload is on its way to the object store.
      disableTerminationForFinishedUploads: true,
      datastore: new SpoolStore(spool, gate, () => this.#exchange.getStore()?.checksum),
      locker: NO_LOCKS,
      maxSize: () => this.#exchange.getStore()?.maxBytes ?? 0,
      allowedHeaders: ["Upload-Checksum"],
      exposedHeaders: ["Upload-Expires"],
      getFileIdFromRequest: ({ url }) => new URL(url).pathname.slice(PATH.length + 1),
      namingFunction: () => this.#exchange.getStore()?.address ?? "",
      onResponseError: async (_request, error) => {
        const requestId = this.#exchange.getStore()?.requestId ?? "";
        const refused = refusalIn(error);
        if (refused.status === 500) log.error({ err: error as Error, requestId }, "an upload failed");
        return { status_code: refused.status, body: uploadErrorBody(requestId, refused) };
      },
      onUploadFinish: async (_request, upload) => {
        const id = idOf(upload.id);
        await gate.received(id, upload.size ?? 0);
        onReceived(id);
        return {};
      },
    });
  }

  async handle(request: IncomingMessage, response: ServerResponse, asked: TusRequest): Promise<void> {
    const { method } = request;
    if (method === "POST" && asked.pathname === PATH) return this.#create(request, response, asked);
    if (!asked.isForwarded && (await this.#isAnsweredElsewhere(request, response, asked))) return;
    if (method === "PATCH") return this.#append(request, response, asked);
    if (method === "OPTIONS" || method === "HEAD" || method === "DELETE")
      return this.#whileNobodyWrites(request, response, asked);
    throw new UploadRefused(405, "this address speaks tus 1.0", { allow: "POST, PATCH, HEAD, DELETE, OPTIONS" });
  }

  /** By the node whose spool has the upload. */
  async #isAnsweredElsewhere(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname }: TusRequest,
  ): Promise<boolean> {
    const { others, spool, gate } = this.#settings;
    const id = idOf(pathname.slice(PATH.length + 1));
    if (!others || request.method === "OPTIONS" || id === "" || (await spool.find(id))) return false;
    const nodeId = await gate.elsewhere(id);
    return nodeId !== null && (await others.sendTo(nodeId, request, response)) === "answered";
  }

  async #create(request: IncomingMessage, response: ServerResponse, { client, token }: TusRequest): Promise<void> {
    const { traffic, gate } = this.#settings;
    using _place = traffic.enter(client, request);
    const length = request.headers["upload-length"];
    const { id, maxBytes } = await gate.admit(token, length === undefined ? null : Number(length));
    using _writing = traffic.lock(id);
    const address = `${id}.${randomBytes(16).toString("hex")}`;
    await this.#answer(request, response, { address, maxBytes, checksum: undefined });
  }

  async #append(request: IncomingMessage, response: ServerResponse, { client, pathname }: TusRequest): Promise<void> {
    const { traffic, gate } = this.#settings;
    if (request.headers["upload-length"] !== undefined)
      throw new UploadRefused(400, "the length of an upload does not change");
    const checksum = checksumOf(request.headers["upload-checksum"]);
    const id = idOf(pathname.slice(PATH.length + 1));
    {
      using _place = traffic.enter(client, request);
      using _writing = traffic.lock(id);
      await this.#answer(request, response, { address: "", maxBytes: Number.MAX_SAFE_INTEGER, checksum });
    }
    await gate.touched(id);
  }

  async #whileNobodyWrites(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname }: TusRequest,
  ): Promise<void> {
    const { traffic } = this.#settings;
    if (request.method === "OPTIONS") response.setHeader("tus-checksum-algorithm", ALGORITHMS.join(","));
    using _writing = request.method === "DELETE" ? traffic.lock(idOf(pathname.slice(PATH.length + 1))) : null;
    await this.#answer(request, response, { address: "", maxBytes: 0, checksum: undefined });
  }

  #answer(request: IncomingMessage, response: ServerResponse, exchange: Omit<Exchange, "requestId">): Promise<void> {
    return this.#exchange.run({ ...exchange, requestId: requestIdOf(request) }, async () => {
      await this.#server.handle(request, response);
    });
  }
}

/** The library throws objects of its own; anything else is a failure of the server, and its message is for the log. */
function refusalIn(error: Error | { readonly status_code: number; readonly body: string }): UploadRefused {
  if (error instanceof UploadRefused) return error;
  if ("status_code" in error) return new UploadRefused(error.status_code, error.body.trim());
  return new UploadRefused(500, "the upload failed: try again");
}

/** The writer's place is taken before the library is called: 423, and no waiting. */
const NO_LOCKS: Locker = { newLock: () => ({ lock: async () => {}, unlock: async () => {} }) };

/** From `sha256 {base64}`. Throws `UploadRefused` for another form or an unknown algorithm. */
function checksumOf(header: string | string[] | undefined): Checksum | undefined {
  if (header === undefined) return undefined;
  const [name, digest = ""] = String(header).split(" ");
  const algorithm = ALGORITHMS.find((known) => known === name);
  if (!algorithm) throw new UploadRefused(400, `checksums are ${ALGORITHMS.join(", ")}`);
  return { algorithm, digest: Buffer.from(digest, "base64") };
}

const idOf = (address: string): string => ADDRESS.exec(address)?.[1] ?? "";

/** The spool as the library sees it. */
class SpoolStore extends DataStore {
  override extensions = ["creation", "termination", "expiration", "checksum"];
  readonly #spool: UploadSpool;
  readonly #gate: Pick<UploadGate, "released" | "elsewhere">;
  readonly #checksum: () => Checksum | undefined;

  constructor(
    spool: UploadSpool,
    gate: Pick<UploadGate, "released" | "elsewhere">,
    checksum: () => Checksum | undefined,
  ) {
    super();
    this.#spool = spool;
    this.#gate = gate;
    this.#checksum = checksum;
  }

  override getExpiration(): number {
    return UPLOAD_EXPIRES_MS;
  }

  override async create(upload: Upload): Promise<Upload> {
    const [, id = "", secret = ""] = ADDRESS.exec(upload.id) ?? [];
    await this.#spool.requireUnfinished(id);
    try {
      await this.#create(upload, id, secret);
    } catch (error) {
      // Nothing of it is here: another node may have room.
      await this.#gate.released(id).catch(() => {});
      throw error;
    }
    return upload;
  }

  async #create(upload: Upload, id: string, secret: string): Promise<void> {
    // As it will be sent: the library turns values into UTF-8, which can be three times as long.
    if (upload.metadata && (Metadata.stringify(upload.metadata) ?? "").length > MAX_METADATA)
      throw new UploadRefused(400, `Upload-Metadata is longer than ${MAX_METADATA} bytes: send less of it`);
    const metadata = upload.metadata ? JSON.stringify(upload.metadata) : null;
    await this.#spool.create(id, { secret, metadata, bytes: upload.size ?? 0 });
  }

  override async getUpload(address: string): Promise<Upload> {
    const { offset, bytes, metadata, touchedAt } = await this.#find(address);
    return new Upload({
      id: address,
      offset,
      ...(bytes === null ? {} : { size: bytes }),
      ...(metadata === null ? {} : { metadata: JSON.parse(metadata) as Record<string, string | null> }),
      // Expiration counts from the last byte.
      creation_date: new Date(touchedAt).toISOString(),
    });
  }

  override async write(chunks: Readable, address: string, offset: number): Promise<number> {
    const { id } = await this.#find(address);
    return this.#spool.append(id, offset, chunks as AsyncIterable<Uint8Array>, this.#checksum());
  }

  override async remove(address: string): Promise<void> {
    const { id } = await this.#find(address);
    await this.#spool.remove(id);
    await this.#gate.released(id);
  }

  /** Unknown uploads and wrong secrets get the same answer. */
  async #find(address: string): Promise<SpooledUpload> {
    const [, id = "", secret = ""] = ADDRESS.exec(address) ?? [];
    const upload = await this.#spool.find(id);
    const isKnown = upload && timingSafeEqual(Buffer.from(upload.secret), Buffer.from(secret));
    // Clients retry a 503, and a balancer may send them to the right node; after a 404 they begin anew.
    if (!upload && (await this.#gate.elsewhere(id)) !== null)
      throw new UploadRefused(503, "this upload is under way at another server: try again");
    if (!upload || !isKnown) throw ERRORS.FILE_NOT_FOUND;
    return upload;
  }
}
