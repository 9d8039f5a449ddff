import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { FormatError } from "@weir/formats/bits";
import { OfferRefused, readOffer } from "@weir/formats/sdp";
import type { Clock } from "../../platform/clock.ts";
import type { Forwarded, OtherNodes } from "../../platform/cluster/index.ts";
import { requestIdOf } from "../../platform/http/request-id.ts";
import type { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { Places } from "../../platform/limits/places.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import type { Log } from "../../platform/log.ts";
import { RelayAnswers } from "./relay-answers.ts";
import { iceServerLinks, type TurnCredentials } from "./turn-credentials.ts";
import { send, sendRefusal, UNANSWERED } from "./webrtc-answers.ts";
import type {
  OfferAnswer,
  OfferElsewhere,
  OfferRefusal,
  OfferRequest,
  OfferTaker,
  ViewerTaker,
} from "./webrtc-offer.ts";
import { ASKS_TOO_MUCH } from "./webrtc-protocol.ts";

/** More than a browser's offer with all its codecs and candidates. */
const MAX_OFFER_BYTES = 64 * 1024;
const MAX_VIEWERS = 2000;
const MAX_VIEWERS_PER_CLIENT = 500;
/** Each offer costs key generation and a handshake. */
const OFFERS_A_MINUTE = 300;
/** Connections of a client's viewers that ended by misuse, before it has to wait. */
const MISUSES_A_MINUTE = 5;

/**
 * `/webrtc/{playback id or stream key}`, optionally with the id of a resource created there, and with `/end` behind that. Where nodes reach each
 * other, the resource's id ends with its node's.
 */
const ADDRESS = /^\/webrtc\/([\w-]{0,256})(?:\/([\w-]{22}(?:\.([\w-]{1,64}))?)(\/end)?)?\/?(?:\?[^#]*)?$/;
/** The relays for a viewer of a playback id. */
const RELAYS_ADDRESS = /^\/webrtc\/([\w-]{1,256})\/ice-servers(?:\?[^#]*)?$/;
/** Shorter than proxies wait for a response. */
const END_WITHIN_MS = 25_000;

export interface WebrtcEndpointSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly proxies: TrustedProxies;
  /** Called when a client is about to send an offer. */
  readonly prepare: () => void;
  readonly watch: ViewerTaker;
  readonly publish: OfferTaker;
  /** UDP port of the STUN responder; null without one. */
  readonly stunPort: number | null;
  /** For clients whose network blocks UDP; null without TURN servers. */
  readonly turn: TurnCredentials | null;
  /** Null where nodes do not reach each other. */
  readonly others: OtherNodes | null;
}

interface Resource {
  readonly name: string;
  readonly answer: OfferAnswer;
  /** Answers the request that waits for its end. */
  answerWaiting: () => void;
}

/**
 * WHIP and WHEP (RFC 9725, and its draft for viewers) over HTTP. Both use the same URL, as public players expect: an offer with a sendonly section
 * publishes, any other watches.
 */
export class WebrtcEndpoint {
  readonly #settings: WebrtcEndpointSettings;
  readonly #resources = new Map<string, Resource>();
  readonly #places = new Places<string>({ inAll: MAX_VIEWERS, perHolder: MAX_VIEWERS_PER_CLIENT });
  readonly #offers: RateLimit;
  readonly #misuses: RateLimit;
  readonly #relays: RelayAnswers;

  constructor(settings: WebrtcEndpointSettings) {
    this.#settings = settings;
    this.#offers = new RateLimit({ clock: settings.clock, quota: OFFERS_A_MINUTE, windowMs: 60_000 });
    this.#misuses = new RateLimit({ clock: settings.clock, quota: MISUSES_A_MINUTE, windowMs: 60_000 });
    this.#relays = new RelayAnswers(settings);
  }

  handle(req: IncomingMessage, res: ServerResponse, forwarded: Forwarded | null = null): void {
    allowAnyPage(res);
    const [, name, resource, nodeId, end] = ADDRESS.exec(req.url ?? "") ?? [];
    const { method = "" } = req;
    if (method === "OPTIONS" || method === "HEAD") return this.#options(req, res);
    const [, watched] = RELAYS_ADDRESS.exec(req.url ?? "") ?? [];
    if (watched !== undefined) return void this.#relays.answer({ req, url: req.url ?? "", name: watched }, res);
    if (name === undefined) return send(res, 404, "There is no resource at this URL.");
    const { others } = this.#settings;
    if (others && nodeId !== undefined && nodeId !== others.self && !forwarded)
      return void this.#askOther(others, nodeId, req, res);
    if (end !== undefined && resource !== undefined) return this.#end(req, res, name, resource);
    if (method === "POST" && resource === undefined) return void this.#post(req, res, name, forwarded);
    if (method === "DELETE" && resource !== undefined) return this.#delete(res, name, resource);
    res.setHeader("allow", resource === undefined ? "POST, HEAD, OPTIONS" : "DELETE, HEAD, OPTIONS");
    const remedy = method === "PATCH" ? " Trickle ICE is not supported: send all candidates in the offer." : "";
    send(res, 405, `${method} is not allowed here.${remedy}`);
  }

  /** The node that answered the offer has the connection. */
  async #askOther(others: OtherNodes, nodeId: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const outcome = await others.sendTo(nodeId, req, res).catch(() => "failed");
    if (outcome === "unknown") send(res, 404, NO_CONNECTION);
    else if (outcome !== "answered") sendRefusal(res, BUSY_ELSEWHERE);
  }

  #options(req: IncomingMessage, res: ServerResponse): void {
    this.#settings.prepare();
    this.#addLink(req, res);
    // Preflights too: clients of the public API get 200 there.
    res.writeHead(200, {
      "content-length": "0",
      "access-control-allow-methods": "GET, POST, DELETE, HEAD, OPTIONS",
      "access-control-allow-headers":
        "Authorization, Content-Type, Service-Jwt, Service-Access-Key, Livepeer-Jwt, Livepeer-Access-Key",
      "access-control-max-age": "86400",
      "accept-post": "application/sdp",
    });
    res.end();
  }

  #delete(res: ServerResponse, name: string, id: string): void {
    const resource = this.#resources.get(id);
    if (resource?.name !== name) return send(res, 404, NO_CONNECTION);
    resource.answer.close(true);
    res.writeHead(200, { "content-length": "0" }).end();
  }

  /**
   * Waits for the end of a connection, because the connection itself does not tell of it: browsers take 7 s to notice, and 17 s to give up. The
   * answer is the refusal for its broadcaster, 404 for any other end, and 204 while it is still there.
   */
  #end(req: IncomingMessage, res: ServerResponse, name: string, id: string): void {
    if (req.method !== "GET") {
      res.setHeader("allow", "GET, HEAD, OPTIONS");
      return send(res, 405, `${req.method} is not allowed here.`);
    }
    const resource = this.#resources.get(id);
    if (resource?.name !== name) return send(res, 404, NO_CONNECTION);
    // One request waits for a connection; a second one takes its place.
    resource.answerWaiting();
    const answer = (): void => {
      deadline.cancel();
      resource.answerWaiting = () => {};
      if (this.#resources.has(id)) return void res.writeHead(204, { "cache-control": "no-store" }).end();
      const refusal = resource.answer.refusal?.();
      if (refusal) sendRefusal(res, refusal);
      else send(res, 404, NO_CONNECTION);
    };
    const deadline = this.#settings.clock.after(END_WITHIN_MS, answer);
    resource.answerWaiting = answer;
    res.once("close", () => deadline.cancel());
  }

  async #post(req: IncomingMessage, res: ServerResponse, name: string, forwarded: Forwarded | null): Promise<void> {
    const { log, proxies } = this.#settings;
    const client = proxies.clientOf(req);
    try {
      if (!/^application\/sdp\b/i.test(req.headers["content-type"] ?? ""))
        return send(res, 415, "Send the offer as application/sdp.");
      if (!this.#offers.take(client).isAllowed) return sendRefusal(res, TOO_MANY_OFFERS);
      this.#settings.prepare();
      const sdp = forwarded?.body?.toString("utf8") ?? (await readBody(req));
      if (sdp === null) {
        res.setHeader("connection", "close");
        return send(res, 413, `The offer is larger than ${MAX_OFFER_BYTES / 1024} KiB.`);
      }
      const admitted = forwarded?.admitted ?? null;
      await this.#answer({ req, url: req.url ?? "", name, sdp, offer: readOffer(sdp), admitted }, res, client);
    } catch (error) {
      // The client disconnected while sending.
      if (req.socket.destroyed) return;
      const refusal = refusalOf(error);
      if (!refusal) log.error({ err: error, requestId: requestIdOf(req) }, "could not answer a WebRTC offer");
      sendRefusal(res, refusal ?? UNANSWERED);
    }
  }

  async #answer(request: OfferRequest, res: ServerResponse, client: string): Promise<void> {
    if (request.name === "") return sendRefusal(res, NO_NAME);
    const { publish, watch, others } = this.#settings;
    const answer = await (request.offer.purpose === "publish"
      ? publish.offer(request)
      : this.#place(watch, request, client));
    if ("status" in answer) return sendRefusal(res, answer);
    if ("place" in answer) return this.#forward(request, res, answer);
    const id = randomBytes(16).toString("base64url") + (others ? `.${others.self}` : "");
    const resource: Resource = { name: request.name, answer, answerWaiting: () => {} };
    this.#resources.set(id, resource);
    void answer.ended.then(() => {
      this.#resources.delete(id);
      resource.answerWaiting();
    });
    if (res.destroyed) return answer.close(false);
    this.#addLink(request.req, res, client);
    res.writeHead(201, {
      "content-type": "application/sdp",
      "content-length": String(Buffer.byteLength(answer.sdp)),
      "cache-control": "no-store",
      location: `/webrtc/${request.name}/${id}`,
      "playhead-utc": new Date(this.#settings.clock.now()).toISOString(),
      ...(answer.playheadMs !== undefined && { "playhead-millis": String(answer.playheadMs) }),
    });
    res.end(answer.sdp);
  }

  async #forward({ req, sdp }: OfferRequest, res: ServerResponse, { place, viewer }: OfferElsewhere): Promise<void> {
    const { admitted } = viewer;
    const outcome = await this.#settings.others?.send(req, res, place, { admitted, body: Buffer.from(sdp) });
    if (outcome !== "answered") sendRefusal(res, UNANSWERED);
    else if (res.statusCode === 201) viewer.counted();
  }

  /** Viewers have places of their own: they keep no publisher out, who needs a key and has a place by that. */
  async #place(watch: OfferTaker, request: OfferRequest, client: string): ReturnType<OfferTaker["offer"]> {
    if (this.#misuses.isUsedUp(client)) return TOO_MANY_OFFERS;
    if (!this.#places.take(client)) return FULL;
    const giveBack = () => this.#places.giveBack(client);
    const answer = await watch.offer(request).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if ("status" in answer || "place" in answer) giveBack();
    else
      void answer.ended.then((reason) => {
        giveBack();
        if (reason === ASKS_TOO_MUCH) this.#misuses.take(client);
      });
    return answer;
  }

  /** The STUN server with which clients find their own address; for an admitted client, the TURN servers too. */
  #addLink(req: IncomingMessage, res: ServerResponse, admitted: string | null = null): void {
    const { stunPort, turn, proxies } = this.#settings;
    const host = /^(\[[^\]]*\]|[^:]*)/.exec(proxies.hostOf(req))?.[0] ?? "";
    const links = admitted !== null && turn ? iceServerLinks(turn.iceServer(admitted)) : [];
    if (stunPort !== null && /^[\w.[\]:-]+$/.test(host)) links.unshift(`<stun:${host}:${stunPort}>; rel="ice-server"`);
    if (links.length > 0) res.setHeader("link", links);
  }
}

const NO_CONNECTION = "There is no such connection.";
const BUSY_ELSEWHERE: OfferRefusal = {
  status: 503,
  sentence: "The node with this connection does not answer right now. Try again in a moment.",
};

const NO_NAME: OfferRefusal = { status: 401, sentence: "Give a stream key to publish, or a playback id to watch." };
const FULL: OfferRefusal = {
  status: 503,
  sentence: "This server has reached its limit of WebRTC connections. Try again later.",
};
const TOO_MANY_OFFERS: OfferRefusal = {
  status: 429,
  sentence: "Too many offers from this address: try again in a minute.",
};

/** Null for an internal error. */
function refusalOf(error: unknown): OfferRefusal | null {
  if (error instanceof OfferRefused) return { status: error.kind === "malformed" ? 400 : 406, sentence: error.message };
  if (error instanceof FormatError)
    return { status: 400, sentence: `The body is not a valid SDP offer: ${error.message}.` };
  return null;
}

/** Null if the body is too large. */
async function readBody(req: IncomingMessage): Promise<string | null> {
  if (Number(req.headers["content-length"] ?? 0) > MAX_OFFER_BYTES) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_OFFER_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function allowAnyPage(res: ServerResponse): void {
  res.setHeader("access-control-allow-origin", "*");
  res.setHeader(
    "access-control-expose-headers",
    "Location, Link, Playhead-UTC, Playhead-Millis, Retry-After, X-Request-Id",
  );
}
