import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../clock.ts";
import type { OtherNodes } from "../cluster/index.ts";
import { isEncoded } from "../http/json-body.ts";
import { SECURITY_HEADERS } from "../http/own-headers.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "../http/request-id.ts";
import type { TrustedProxies } from "../http/trusted-proxies.ts";
import type { Log } from "../log.ts";
import type { Outbound } from "../outbound/outbound.ts";
import { Downloads } from "../outbound/outbound-download.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { TusUploads } from "./tus-uploads.ts";
import { UploadDelivery } from "./upload-delivery.ts";
import type { UploadGate } from "./upload-gate.ts";
import { type ImportRequest, importFile } from "./upload-import.ts";
import { sendUploadRefusal, UploadRefused } from "./upload-refused.ts";
import { UploadSpool } from "./upload-spool.ts";
import { UploadTraffic } from "./upload-traffic.ts";

/** URLs that this server answers by itself, past the app: its body limit and deadline do not apply to files. */
export const UPLOAD_PREFIXES = ["/api/asset/upload/direct", "/api/asset/upload/tus"] as const;

/** How long the rest of a refused request is read, so that its sender sees the response. */
const DRAIN_MS = 2_000;

export interface UploadServerSettings {
  readonly folder: string;
  readonly freeBytes: () => number;
  readonly gate: UploadGate;
  readonly store: Pick<ObjectStore, "putFile">;
  readonly proxies: TrustedProxies;
  /** The only way to customers' URLs. */
  readonly outbound: Pick<Outbound, "send">;
  readonly clock: Clock;
  readonly log: Log;
  /** Null or absent where nodes do not reach each other. */
  readonly others?: Pick<OtherNodes, "sendTo"> | null;
}

/** Receives files by a single `PUT`, or by tus, which can resume. Both stay in a spool until complete, then go to the object store. */
export class UploadServer {
  readonly #settings: UploadServerSettings;
  readonly #spool: UploadSpool;
  readonly #traffic: UploadTraffic;
  readonly #tus: TusUploads;
  readonly #delivery: UploadDelivery;

  constructor(settings: UploadServerSettings) {
    this.#settings = settings;
    this.#spool = new UploadSpool(settings);
    this.#traffic = new UploadTraffic(settings.clock);
    const parts = { ...settings, spool: this.#spool, traffic: this.#traffic };
    this.#delivery = new UploadDelivery(parts);
    this.#tus = new TusUploads({ ...parts, onReceived: (id) => void this.#delivery.deliver(id) });
  }

  async open(): Promise<void> {
    await mkdir(this.#settings.folder, { recursive: true, mode: 0o700 });
    await this.#spool.open();
    await this.#delivery.start();
  }

  async close(): Promise<void> {
    await this.#delivery.close();
  }

  get underWay(): number {
    return this.#traffic.underWay;
  }

  /** Complete files that the object store has not accepted yet. */
  get waiting(): number {
    return this.#delivery.waiting;
  }

  /** Fetch a file from a customer's URL as if it had been uploaded, and deliver it to the object store. Throws `DownloadFailed`, `UploadRefused`. */
  async import(request: ImportRequest): Promise<void> {
    const { clock, gate, outbound } = this.#settings;
    const downloads = new Downloads(outbound, clock);
    const bytes = await importFile({ spool: this.#spool, traffic: this.#traffic, downloads, clock }, request);
    await gate.received(request.id, bytes);
    await this.#delivery.deliver(request.id);
  }

  /** Resolves when every complete file has been delivered, or could not be. For tests. */
  settle(): Promise<void> {
    return this.#delivery.sweep();
  }

  /** `isForwarded`: by another node of this server, so that this one has the upload. */
  readonly handle = (request: IncomingMessage, response: ServerResponse, isForwarded = false): void => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    response.setHeader(REQUEST_ID_HEADER, requestIdOf(request));
    response.once("finish", () => this.#drain(request));
    const client = this.#settings.proxies.clientOf(request);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://upload.invalid");
    const [direct, tus] = UPLOAD_PREFIXES;
    const work = isEncoded(request.headers)
      ? Promise.reject(new UploadRefused(415, "the file must be sent as it is, without Content-Encoding"))
      : pathname === direct
        ? this.#direct(request, response, { client, token: searchParams.get("token") })
        : pathname === tus || pathname.startsWith(`${tus}/`)
          ? this.#tus.handle(request, response, { client, pathname, token: searchParams.get("token"), isForwarded })
          : Promise.reject(new UploadRefused(404, "not found"));
    work.catch((error: unknown) => this.#refuse(request, response, error));
  };

  async #direct(
    request: IncomingMessage,
    response: ServerResponse,
    { client, token }: { readonly client: string; readonly token: string | null },
  ): Promise<void> {
    allowAnyOrigin(request, response);
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    if (request.method !== "PUT" && request.method !== "POST")
      throw new UploadRefused(405, "send the file by PUT", { allow: "PUT, POST, OPTIONS" });
    const declared = request.headers["content-length"];
    const bytes = declared === undefined ? null : Number(declared);
    using _place = this.#traffic.enter(client, request);
    const { id, maxBytes } = await this.#settings.gate.admit(token, bytes);
    if (bytes !== null && bytes > maxBytes) throw tooLarge(maxBytes);
    using _writing = this.#traffic.lock(id);
    await this.#spool.requireUnfinished(id);
    let isWhole = false;
    try {
      const note = { secret: randomBytes(16).toString("hex"), metadata: null, bytes: null };
      await this.#spool.create(id, note);
      const received = await this.#spool.append(id, 0, bodyOf(request, maxBytes));
      await this.#spool.complete({ id, ...note }, received);
      isWhole = true;
      await this.#settings.gate.received(id, received);
      void this.#delivery.deliver(id);
    } catch (error) {
      // The gate may have kept that it is complete, though its answer was lost: then nobody can send it again.
      if (isWhole && !(error instanceof UploadRefused)) {
        void this.#delivery.deliver(id);
        throw error;
      }
      await this.#spool.remove(id);
      await this.#settings.gate.released(id).catch(() => {});
      throw error;
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  }

  /** Respond if possible; the rest of the body is not kept. */
  #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const { log } = this.#settings;
    const isCut = request.destroyed && !request.complete;
    if (response.headersSent || isCut) return void request.destroy();
    if (!(error instanceof UploadRefused))
      log.error({ err: error, requestId: requestIdOf(request) }, "an upload failed");
    const refused = error instanceof UploadRefused ? error : new UploadRefused(500, "the upload failed: try again");
    if (refused.status === 429 || refused.status === 507) response.setHeader("retry-after", "5");
    // HTTP/2 ends a stream, and has no such header.
    if (!request.complete && request.httpVersionMajor < 2) response.setHeader("connection", "close");
    sendUploadRefusal(request, response, refused);
  }

  /** The rest of an unwanted body is read briefly, so that its sender sees the response, but not forever. */
  #drain(request: IncomingMessage): void {
    if (request.complete || request.destroyed) return;
    const cut = this.#settings.clock.after(DRAIN_MS, () => request.destroy());
    request.once("close", () => cut.cancel());
    request.resume();
  }
}

const tooLarge = (maxBytes: number) =>
  new UploadRefused(413, `the file is larger than ${maxBytes} bytes, the most that is taken`);

/** Any page may upload: the token in the URL grants the right. */
function allowAnyOrigin(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("access-control-allow-origin", "*");
  if (request.method !== "OPTIONS") return;
  response.setHeader("access-control-allow-methods", "PUT, POST, OPTIONS");
  response.setHeader(
    "access-control-allow-headers",
    request.headers["access-control-request-headers"] ?? "content-type",
  );
  response.setHeader("access-control-max-age", "7200");
}

/** The chunks of a request, which stays open for its response whatever happens. */
async function* bodyOf(request: IncomingMessage, maxBytes: number): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}
