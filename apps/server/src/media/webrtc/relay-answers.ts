import type { ServerResponse } from "node:http";
import type { Clock } from "../../platform/clock.ts";
import { requestIdOf } from "../../platform/http/request-id.ts";
import type { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import type { Log } from "../../platform/log.ts";
import type { TurnCredentials } from "./turn-credentials.ts";
import { send, sendRefusal, UNANSWERED } from "./webrtc-answers.ts";
import type { OfferRefusal, ViewerTaker, WebrtcRequest } from "./webrtc-offer.ts";

/** A player asks once for each connection that UDP did not carry. */
const ANSWERS_A_MINUTE = 60;

export interface RelayAnswersSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly proxies: TrustedProxies;
  readonly watch: ViewerTaker;
  /** Null without TURN servers. */
  readonly turn: TurnCredentials | null;
}

/**
 * `GET /webrtc/{playback id}/ice-servers`: the TURN servers for a viewer who may watch a live stream, as `{ iceServers }` of `RTCConfiguration`; an
 * empty list where there are none. A browser must know them before its offer, when it gathers candidates.
 */
export class RelayAnswers {
  readonly #settings: RelayAnswersSettings;
  readonly #asked: RateLimit;

  constructor(settings: RelayAnswersSettings) {
    this.#settings = settings;
    this.#asked = new RateLimit({ clock: settings.clock, quota: ANSWERS_A_MINUTE, windowMs: 60_000 });
  }

  async answer(request: WebrtcRequest, res: ServerResponse): Promise<void> {
    const { log, proxies, turn, watch } = this.#settings;
    const { req } = request;
    if (req.method !== "GET") {
      res.setHeader("allow", "GET, HEAD, OPTIONS");
      return send(res, 405, `${req.method} is not allowed here.`);
    }
    const client = proxies.clientOf(req);
    if (!this.#asked.take(client).isAllowed) return sendRefusal(res, TOO_MANY);
    const refusal = await watch.refusalOf(request).catch((error: unknown) => {
      log.error({ err: error, requestId: requestIdOf(req) }, "could not admit a WebRTC viewer");
      return UNANSWERED;
    });
    if (refusal) return sendRefusal(res, refusal);
    const body = JSON.stringify({ iceServers: turn ? [turn.iceServer(client)] : [] });
    res.writeHead(200, {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
    res.end(body);
  }
}

const TOO_MANY: OfferRefusal = {
  status: 429,
  sentence: "Too many requests for relays from this address: try again in a minute.",
};
