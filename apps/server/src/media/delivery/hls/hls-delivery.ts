import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { PlaybackDecision, PlaybackGate } from "../../../ports.ts";
import type { Hub } from "../../hub/hub.ts";
import { CACHE, PLAYLIST_TYPE, sendNotFound, sendPreflight, sendText } from "../media-response.ts";
import { PlaybackAccess } from "../playback-access.ts";
import { LiveDelivery } from "./live-delivery.ts";
import { type MediaAddress, parseMediaAddress } from "./media-address.ts";
import { RecordingDelivery } from "./recording-delivery.ts";

/** The phrase that public players read as "not allowed" (their keyword list). */
const DENIED = "Shutting down since this session is not allowed to view this stream";
/** Token slot of content that anybody may watch. */
const PUBLIC_TOKEN = "-";

export interface HlsDeliverySettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly hub: Hub;
  readonly playbackGate: PlaybackGate;
  readonly store: ObjectStore;
}

/** HLS and MP4 over plain `node:http`: finds what an address means, asks the gate, and hands over to live or recorded delivery. */
export class HlsDelivery {
  readonly #log: Log;
  readonly #hub: Hub;
  readonly #access: PlaybackAccess;
  readonly #live: LiveDelivery;
  readonly #recordings: RecordingDelivery;

  constructor({ clock, log, hub, playbackGate, store }: HlsDeliverySettings) {
    this.#log = log;
    this.#hub = hub;
    this.#access = new PlaybackAccess(playbackGate, clock);
    this.#live = new LiveDelivery(clock);
    this.#recordings = new RecordingDelivery({ clock, playbackGate, store });
  }

  /** A stream's rules changed: kept answers are asked for again. */
  forgetAccess(): void {
    this.#access.forget();
  }

  handle(req: IncomingMessage, res: ServerResponse): void {
    if (req.method === "OPTIONS") return sendPreflight(res);
    if (req.method !== "GET" && req.method !== "HEAD") {
      res.setHeader("allow", "GET, HEAD, OPTIONS");
      return sendText(res, 405, "application/json", '{"errors":["method not allowed"]}');
    }
    const address = parseMediaAddress(req.url ?? "");
    if (!address) return sendNotFound(res);
    const known = this.#access.known(address.playbackId);
    if (known) this.#serve(req, res, address, known);
    else void this.#askThenServe(req, res, address);
  }

  async #askThenServe(req: IncomingMessage, res: ServerResponse, address: MediaAddress): Promise<void> {
    try {
      this.#serve(req, res, address, await this.#access.ask(address.playbackId));
    } catch (error) {
      this.#fail(res, error);
    }
  }

  #serve(req: IncomingMessage, res: ServerResponse, address: MediaAddress, decision: PlaybackDecision): void {
    if (!decision.ok) return deny(res, address);
    const { content } = decision;
    if (content.kind === "live") return this.#serveLive(req, res, address);
    this.#recordings.serve(req, res, address, content.sessionId).catch((error: unknown) => this.#fail(res, error));
  }

  #serveLive(req: IncomingMessage, res: ServerResponse, address: MediaAddress): void {
    if (address.kind === "mp4") return sendNotFound(res);
    if (address.kind === "multivariant") {
      const session = this.#hub.sessionOf(address.playbackId);
      const offline = () => sendText(res, 200, PLAYLIST_TYPE, errorPlaylist("Stream is offline"));
      return session ? this.#live.multivariant(res, session, offline) : offline();
    }
    const session = this.#hub.session(address.timeline);
    if (session?.playbackId !== address.playbackId || address.token !== PUBLIC_TOKEN) return sendNotFound(res);
    this.#live.file(req, res, session, address);
  }

  #fail(res: ServerResponse, error: unknown): void {
    this.#log.error({ error }, "a media request failed");
    if (res.headersSent) res.destroy();
    else sendText(res, 503, "application/json", '{"errors":["the content cannot be read right now, try again"]}');
  }
}

/** Unknown, deleted and gated content answer alike, so that nobody can find out which ids exist. */
function deny(res: ServerResponse, address: MediaAddress): void {
  const isPlaylist = address.kind === "multivariant" || (address.kind === "file" && address.file.endsWith(".m3u8"));
  if (isPlaylist) sendText(res, 401, PLAYLIST_TYPE, errorPlaylist(DENIED), CACHE.error);
  else sendText(res, 401, "application/json", `{"errors":["${DENIED}"]}`, CACHE.error);
}

function errorPlaylist(phrase: string): string {
  return `#EXTM3U\n#EXT-X-ERROR: ${phrase}\n#EXT-X-ENDLIST\n`;
}
