import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../platform/clock.ts";
import type { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { DeniedClients } from "../../platform/limits/denied-clients.ts";
import type { MediaCatalogue } from "../../ports/index.ts";
import { sendNotFound, sendRedirect, sendTooMany } from "./http/media-response.ts";

/** `/hls/video+{playbackId}/…`, the form that other servers use for live streams. */
const TRACK_ADDRESS = /^\/(?:asset\/)?hls\/video\+([a-z0-9]{4,64}\/(?:index\.m3u8|staticsource\.mp4)(?:\?[^#]*)?)$/;
/** `/recordings/{sessionId}/…`, the earlier form of a recording's URL. */
const RECORDING_ADDRESS = /^\/recordings\/([\w-]{1,64})\/(?:(index\.m3u8)|(?:static)?source\.mp4)(\?[^#]*)?$/;

/** Limits of session look-ups per client; each is a database query. */
const QUESTIONS = { deniedPerMinute: 60, atOnce: 20, slowed: { atOnce: 2, perSecond: 5 } } as const;

/** The canonical URL for this form; null if the URL does not have it. */
export function addressOfTrack(url: string): string | null {
  const path = TRACK_ADDRESS.exec(url)?.[1];
  return path === undefined ? null : `../${path}`;
}

/**
 * Redirects players that know a recording by its session to its canonical URL, where access is checked. With one URL per content, caches store it
 * once. Whether a recording exists is public: `GET /api/playback/{sessionId}` reveals it too.
 */
export class RecordingAddresses {
  readonly #catalogue: Pick<MediaCatalogue, "recordingOf">;
  readonly #proxies: TrustedProxies;
  readonly #denied: DeniedClients;

  constructor(clock: Clock, catalogue: Pick<MediaCatalogue, "recordingOf">, proxies: TrustedProxies) {
    this.#catalogue = catalogue;
    this.#proxies = proxies;
    this.#denied = new DeniedClients({ clock, ...QUESTIONS });
  }

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [, sessionId, playlist, query = ""] = RECORDING_ADDRESS.exec(req.url ?? "") ?? [];
    if (sessionId === undefined) return sendNotFound(res);
    const look = async () => (await this.#catalogue.recordingOf(sessionId)) ?? "denied";
    const playbackId = await this.#denied.ask(this.#proxies.clientOf(req), look);
    if (playbackId === "denied") return sendNotFound(res);
    if (playbackId === "too-many") return sendTooMany(res);
    sendRedirect(res, `../../asset/hls/${playbackId}/${playlist ?? "staticsource.mp4"}${query}`);
  }
}
