import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../platform/clock.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { Log } from "../../../platform/log.ts";
import type { ListedRendition } from "../../packaging/hls/live-multivariant.ts";
import type { LiveSegment } from "../../packaging/live-segment.ts";
import {
  type Caching,
  EMPTY_SEGMENT,
  errorText,
  PERSONAL,
  PLAYLIST_TYPE,
  sendAscii,
  sendBuffers,
  sendNotFound,
  sendText,
} from "../answers/media-response.ts";
import type { LiveFiles, LiveList, LiveSource } from "../live-source.ts";
import type { FileAddress } from "../media-address.ts";
import { furthestMsn, hasMedia, JOIN_MARGIN_MS, type PlaylistWait, PlaylistWaits } from "./playlist-waits.ts";

/** A new session announces its tracks one by one; this is how long to wait for the second one. */
const TRACKS_WITHIN_MS = 1000;
const TRACKS_LOOK_MS = 50;
/**
 * In target durations: how long a blocking request waits for a source that sends nothing. hls.js takes 0.8 for a failure, and three failures in its
 * lists of video and audio between two new segments end it for good, also without low latency. It reads an unchanged list again in a second.
 */
const QUIET_TARGET_DURATIONS = 0.5;

/** A request for a file of a session's live window. */
export interface LiveRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly source: LiveSource;
  readonly caching: Caching;
  readonly address: FileAddress;
}

/** Serves the live window of a session from memory. Everything except waiting happens within the request's own event loop turn. */
export class LiveDelivery {
  readonly #clock: Clock;
  readonly #waits: PlaylistWaits;

  constructor(clock: Clock, log: Log, proxies: TrustedProxies) {
    this.#clock = clock;
    this.#waits = new PlaylistWaits(clock, log, proxies);
  }

  get waiting(): number {
    return this.#waits.count;
  }

  /** Calls `send` with the playable renditions, or null if there are none. */
  multivariant(source: LiveSource, send: (listed: readonly ListedRendition[] | null) => void, waitedMs = 0): void {
    const { listed } = source.pipeline;
    if (listed.length > 0) return send(listed);
    if (source.isFinished || waitedMs >= TRACKS_WITHIN_MS) return send(null);
    this.#clock.after(TRACKS_LOOK_MS, () => this.multivariant(source, send, waitedMs + TRACKS_LOOK_MS));
  }

  file(asked: LiveRequest, playlist: LiveList): void {
    const { file, media } = asked.address;
    if (file === "index.m3u8") return this.#playlist(asked, playlist);
    if (file.startsWith("init-")) return sendInit(asked, playlist.rendition, file);
    if (!media) return sendNotFound(asked.res);
    if (media.part === null) sendSegment(asked, playlist.rendition, media.msn);
    else this.#part(asked, playlist.rendition, media.msn, media.part);
  }

  #playlist(asked: LiveRequest, playlist: LiveList): void {
    const { rendition } = playlist;
    const { res, caching, address } = asked;
    const query = address.blocking;
    if (query === "invalid") return sendText(res, 400, "application/json", BAD_DIRECTIVE, PERSONAL.error);
    if (query === null) {
      // With a playlist of parts only, hls.js plays the gap before them, tries every rendition in turn and shows nothing for seconds.
      const isReady = () => rendition.listed.length > 0;
      const withinMs = rendition.targetDuration * 1000 + JOIN_MARGIN_MS;
      return this.#waitForList(asked, playlist, { isMet: isReady, met: caching.fresh, withinMs });
    }
    if (query.msn > furthestMsn(rendition)) return sendText(res, 400, "application/json", TOO_FAR);
    const isMet = () => hasMedia(rendition, query.msn, query.part);
    const quietMs = rendition.targetDuration * 1000 * QUIET_TARGET_DURATIONS;
    this.#waitForList(asked, playlist, { isMet, met: caching.blocked, quietMs });
  }

  /** Sends the playlist once `isMet`, with `met` as its caching; immediately if no wait slot is free. */
  #waitForList(
    asked: LiveRequest,
    playlist: LiveList,
    { met, ...wait }: Pick<PlaylistWait, "isMet" | "withinMs" | "quietMs"> & { readonly met: string },
  ): void {
    const { req, res, source, caching } = asked;
    this.#waits.until(playlist.rendition, {
      ...{ req, res, playbackId: source.playbackId, ...wait },
      done: () => sendPlaylist(asked, playlist, wait.isMet() ? met : caching.fresh),
      full: () => sendPlaylist(asked, playlist, caching.fresh),
    });
  }

  /** A hinted part may be requested before it exists; the response waits for it. */
  #part(asked: LiveRequest, rendition: LiveFiles, msn: number, part: number): void {
    const isNext = (next = rendition.nextPart) => next?.msn === msn && next.part === part;
    if (!isNext()) return sendPart(asked, rendition, msn, part);
    const { req, res, source } = asked;
    this.#waits.until(rendition, {
      ...{ req, res, playbackId: source.playbackId, isMet: () => !isNext() },
      done: () => sendPart(asked, rendition, msn, part),
      full: () => sendBusy(res),
    });
  }
}

const BAD_DIRECTIVE = errorText(
  "bad-request",
  "_HLS_msn and _HLS_part must be whole numbers, _HLS_part only together with _HLS_msn",
);
const TOO_FAR = errorText("bad-request", "_HLS_msn is more than two segments ahead of the stream");

const TOO_MANY_WAIT = errorText("too-busy", "too many waiting requests: try again in a second");

/** Not cached, because other clients may have free slots. */
function sendBusy(res: ServerResponse): void {
  res.setHeader("retry-after", "1");
  sendText(res, 503, "application/json", TOO_MANY_WAIT, PERSONAL.error);
}

function sendPlaylist({ res, source }: LiveRequest, playlist: LiveList, cache: string): void {
  const text = playlist.text();
  source.bytesSent += text.length;
  source.sent.playlist++;
  sendAscii(res, 200, PLAYLIST_TYPE, cache, text);
}

function sendInit({ req, res, caching }: LiveRequest, rendition: LiveFiles, name: string): void {
  const open = rendition.open?.init;
  const init = open?.name === name ? open : rendition.listed.find((segment) => segment.init?.name === name)?.init;
  if (init) sendBuffers(req, res, mediaType(rendition), caching.immutable, [init.bytes]);
  else sendNotFound(res);
}

function sendSegment({ req, res, source, caching }: LiveRequest, rendition: LiveFiles, msn: number): void {
  const segment = rendition.segment(msn);
  if (segment?.init === null || msn + 1 === rendition.firstMsn)
    return void sendBuffers(req, res, mediaType(rendition), caching.immutable, [EMPTY_SEGMENT]);
  if (!segment || !rendition.isComplete(segment)) return sendNotFound(res);
  source.bytesSent += sendBuffers(req, res, mediaType(rendition), caching.immutable, segment.views);
  holdWhileSending(res, segment);
  source.sent.segment++;
}

function sendPart({ req, res, source, caching }: LiveRequest, rendition: LiveFiles, msn: number, part: number): void {
  const segment = rendition.segment(msn);
  const views = segment?.parts[part]?.views;
  if (!segment || !views) return sendNotFound(res);
  source.bytesSent += sendBuffers(req, res, mediaType(rendition), caching.immutable, views);
  holdWhileSending(res, segment);
  source.sent.part++;
}

/** Unless the system took all bytes at once, the socket may still read them long after the segment has left the window. */
function holdWhileSending(res: ServerResponse, segment: LiveSegment): void {
  if (res.writableFinished) return;
  segment.retain();
  res.on("close", () => segment.release());
}

const kindOf = ({ name }: LiveFiles) => (name === "audio" ? "audio" : "video");

function mediaType(rendition: LiveFiles): string {
  return `${kindOf(rendition)}/mp4`;
}
