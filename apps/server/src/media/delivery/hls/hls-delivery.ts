import type { ServerResponse } from "node:http";
import type { Clock } from "../../../platform/clock.ts";
import { onceClosed } from "../../../platform/http/once-closed.ts";
import type { Log } from "../../../platform/log.ts";
import type { Slices } from "../../../platform/slices.ts";
import { DVR_I_FRAMES, DVR_PLAYLIST, type SessionDvr } from "../../dvr/session-dvr.ts";
import { liveMultivariant } from "../../packaging/hls/live-multivariant.ts";
import type { InitSegment } from "../../packaging/live-segment.ts";
import type { PartPlace, WindowRendition, WindowSegment } from "../../packaging/window-rendition.ts";
import type { Admission } from "../front/admission.ts";
import type { HttpProtocol, MediaRequest } from "../http/media-request.ts";
import {
  EMPTY_SEGMENT,
  errorText,
  PERSONAL,
  sendAscii,
  sendBuffers,
  sendBusy,
  sendNotFound,
  sendText,
  sendUnavailable,
} from "../http/media-response.ts";
import type { LiveList, LiveSource, LiveSources } from "../live-source.ts";
import { untilTracks } from "../until-tracks.ts";
import type { DvrDelivery } from "./dvr-delivery.ts";
import {
  type FileAddress,
  type HlsAddress,
  type MediaPlace,
  type MultivariantAddress,
  parseHlsAddress,
  renditionAddresses,
} from "./hls-addresses.ts";
import { PLAYLIST_TYPE, sendHlsRefusal, sendOffline } from "./hls-answers.ts";
import { furthestMsn, hasMedia, JOIN_MARGIN_MS, type PlaylistWait, PlaylistWaits } from "./playlist-waits.ts";
import type { StoredDelivery } from "./stored-delivery.ts";

/**
 * In target durations: how long a blocking request waits for a source that sends nothing. hls.js takes 0.8 for a failure, and three failures in its
 * lists of video and audio between two new segments end it for good, also without low latency. It reads an unchanged list again in a second.
 */
const QUIET_TARGET_DURATIONS = 0.5;

export interface HlsDeliverySettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly slices: Slices;
  readonly live: LiveSources;
  readonly stored: StoredDelivery;
  readonly dvr: DvrDelivery;
}

/**
 * HLS of live sessions, from memory, and of stored media. Everything except waiting happens within the request's own event loop turn, unless another
 * process must be asked for the session.
 */
export class HlsDelivery implements HttpProtocol<HlsAddress> {
  readonly parse = parseHlsAddress;
  readonly refuse = sendHlsRefusal;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #sources: LiveSources;
  readonly #stored: StoredDelivery;
  readonly #dvr: DvrDelivery;
  readonly #waits: PlaylistWaits;

  constructor({ clock, log, slices, live, stored, dvr }: HlsDeliverySettings) {
    this.#dvr = dvr;
    this.#clock = clock;
    this.#log = log;
    this.#sources = live;
    this.#stored = stored;
    this.#waits = new PlaylistWaits(clock, slices, log);
  }

  /** Number of requests that wait for media. */
  get waiting(): number {
    return this.#waits.count;
  }

  serve(asked: MediaRequest<HlsAddress>, admission: Admission): void | Promise<void> {
    const { content } = admission;
    if (content.kind !== "live") return this.#stored.serve(asked, admission, content);
    const { address } = asked;
    const source =
      address.kind === "file" ? this.#sources.session(address.timeline) : this.#sources.sessionOf(address.playbackId);
    return source instanceof Promise
      ? this.#serveLater(asked, admission, source, content.streamId)
      : this.#serveLive(asked, admission, source, content.streamId);
  }

  async #serveLater(
    asked: MediaRequest<HlsAddress>,
    admission: Admission,
    source: Promise<LiveSource | undefined>,
    streamId: string,
  ): Promise<void> {
    await this.#serveLive(asked, admission, await source, streamId);
  }

  #serveLive(
    asked: MediaRequest<HlsAddress>,
    admission: Admission,
    source: LiveSource | undefined,
    streamId: string,
  ): void | Promise<void> {
    if (isOfFile(asked)) return this.#serveFile(asked, admission, source, streamId);
    const { isDvr } = asked.address as MultivariantAddress;
    if (!source || source.isFinished) admission.missed();
    // An ended session whose live window is gone stays for those who go back in it, until its recording is ready.
    if (isDvr && (!source || (source.isFinished && source.outputs.listed.length === 0)))
      return this.#serveEnded(asked, admission, streamId);
    this.#serveMultivariant(asked, admission, source, isDvr ? (source?.dvr ?? null) : null);
  }

  #serveFile(
    asked: MediaRequest<FileAddress>,
    admission: Admission,
    source: LiveSource | undefined,
    streamId: string,
  ): void | Promise<void> {
    const { playbackId, rendition, file, dvrMsn } = asked.address;
    const isDvr = dvrMsn !== null || file === DVR_PLAYLIST || file === DVR_I_FRAMES || file.startsWith("init-");
    if (!source && isDvr) return this.#dvr.endedFile(asked, admission, streamId);
    const playlist = source?.playbackId === playbackId ? source.outputs.playlist(rendition) : undefined;
    if (!source || !playlist) return sendNotFound(asked.res);
    if (asked.begin(admission)) return this.#file(asked, source, playlist);
  }

  async #serveEnded(asked: MediaRequest, admission: Admission, streamId: string): Promise<void> {
    if (!(await this.#dvr.endedMultivariant(asked, admission, streamId))) sendOffline(asked);
  }

  /** With `dvr`, of the playlists that go back. */
  #serveMultivariant(
    asked: MediaRequest,
    admission: Admission,
    source: LiveSource | undefined,
    dvr: SessionDvr | null,
  ): void {
    if (!source) return sendOffline(asked);
    const listedNow = () => source.outputs.listed.filter(({ rendition }) => !dvr || dvr.has(rendition.name));
    const areKnown = () => listedNow().length > 0 || source.isFinished;
    untilTracks(this.#clock, areKnown, () => {
      const listed = listedNow();
      if (listed.length === 0) return sendOffline(asked);
      const viewing = asked.begin(admission);
      if (!viewing) return;
      const file = dvr ? DVR_PLAYLIST : undefined;
      const addresses = renditionAddresses(viewing, source.sessionId, file);
      const iFrameAddresses = renditionAddresses(viewing, source.sessionId, DVR_I_FRAMES);
      const iFramesOf = (rendition: string) => {
        const rates = dvr?.iFrameRates(rendition);
        return rates ? { uri: iFrameAddresses(rendition), ...rates } : null;
      };
      const playlist = liveMultivariant(listed, addresses, source.dvr?.sessionData, iFramesOf);
      sendText(asked.res, 200, PLAYLIST_TYPE, playlist, asked.caching.multivariant);
    });
  }

  /** A file of the source's live window. */
  #file(asked: MediaRequest<FileAddress>, source: LiveSource, playlist: LiveList): void | Promise<void> {
    const { file, media, dvrMsn } = asked.address;
    const { dvr } = source;
    if (file === "index.m3u8") {
      const { hasEnded, listed } = playlist.rendition;
      return hasEnded && listed.length === 0
        ? sendNotFound(asked.res)
        : this.#playlist(asked, source, playlist, sendPlaylist);
    }
    if (file === DVR_PLAYLIST || file === DVR_I_FRAMES)
      return dvr ? this.#dvrPlaylist(asked, source, playlist, dvr) : sendNotFound(asked.res);
    if (dvrMsn !== null) return dvr ? this.#dvr.segment(asked, source, dvr, dvrMsn) : sendNotFound(asked.res);
    if (file.startsWith("init-")) {
      const init = findInit(playlist.rendition, file);
      if (!init && dvr) return this.#dvr.init(asked, dvr);
      return sendInit(asked, playlist.rendition, init);
    }
    if (!media) return sendNotFound(asked.res);
    if (isPart(media)) this.#part(asked, source, playlist.rendition, media);
    else sendSegment(asked, source, playlist.rendition, media.msn);
  }

  /** Sends what goes back, from the same moment on as the live list has it. */
  #dvrPlaylist(asked: MediaRequest<FileAddress>, source: LiveSource, playlist: LiveList, dvr: SessionDvr): void {
    if (asked.address.skip === "invalid") return sendText(asked.res, 400, "application/json", BAD_SKIP, PERSONAL.error);
    this.#playlist(asked, source, playlist, (_asked, _source, _list, cache) => {
      const isIFrames = asked.address.file === DVR_I_FRAMES;
      const sent = isIFrames
        ? this.#dvr.iFrames(asked, source, dvr, cache)
        : this.#dvr.playlist(asked, source, dvr, cache);
      sent?.catch((error: unknown) => {
        this.#log.error({ err: error, playbackId: source.playbackId }, "could not write a DVR playlist");
        sendUnavailable(asked.res);
      });
    });
  }

  #playlist(asked: MediaRequest<FileAddress>, source: LiveSource, playlist: LiveList, send: SendList): void {
    const { rendition } = playlist;
    const { res, caching, address } = asked;
    const query = address.blocking;
    if (query === "invalid") return sendText(res, 400, "application/json", BAD_DIRECTIVE, PERSONAL.error);
    if (query === null) {
      // With a playlist of parts only, hls.js plays the gap before them, tries every rendition in turn and shows nothing for seconds.
      const isReady = () => rendition.listed.length > 0;
      const withinMs = rendition.targetDuration * 1000 + JOIN_MARGIN_MS;
      return this.#waitForList(asked, source, playlist, { isMet: isReady, met: caching.fresh, withinMs, send });
    }
    if (query.msn > furthestMsn(rendition) && !rendition.hasEnded)
      return sendText(res, 400, "application/json", TOO_FAR);
    const { file, rendition: name } = address;
    // Lists that go back have no parts of a slate.
    const partNow = () => (file === DVR_PLAYLIST && rendition.open?.isSlate ? null : query.part);
    const isMet =
      file === DVR_I_FRAMES
        ? () => hasKeyframe(source, name, query.msn) || hasMedia(rendition, query.msn + 1, null)
        : () => hasMedia(rendition, query.msn, partNow());
    const quietMs = rendition.targetDuration * 1000 * QUIET_TARGET_DURATIONS;
    this.#waitForList(asked, source, playlist, { isMet, met: caching.blocked, quietMs, send });
  }

  /** Sends the playlist once `isMet`, with `met` as its caching; immediately if no wait slot is free. */
  #waitForList(
    asked: MediaRequest<FileAddress>,
    source: LiveSource,
    playlist: LiveList,
    { met, send, ...wait }: Pick<PlaylistWait, "isMet" | "withinMs" | "quietMs"> & ListWait,
  ): void {
    const { fresh } = asked.caching;
    const { file } = asked.address;
    this.#waits.until(playlist.rendition, {
      asked,
      ...wait,
      goesBack: file === DVR_PLAYLIST || file === DVR_I_FRAMES,
      done: () => send(asked, source, playlist, wait.isMet() ? met : fresh),
      full: () => send(asked, source, playlist, fresh),
    });
  }

  /** A hinted part may be requested before it exists; the response waits for it. */
  #part(asked: MediaRequest, source: LiveSource, rendition: WindowRendition, place: PartPlace): void {
    const isNext = (next = rendition.nextPart) => next?.msn === place.msn && next.part === place.part;
    if (!isNext()) return sendPart(asked, source, rendition, place);
    this.#waits.until(rendition, {
      asked,
      goesBack: false,
      isMet: () => !isNext(),
      done: () => sendPart(asked, source, rendition, place),
      full: () => sendBusy(asked.res, "too many waiting requests"),
    });
  }
}

type SendList = (asked: MediaRequest, source: LiveSource, playlist: LiveList, cache: string) => void;

interface ListWait {
  /** Caching of an answer that has what was asked for. */
  readonly met: string;
  readonly send: SendList;
}

const isOfFile = (asked: MediaRequest<HlsAddress>): asked is MediaRequest<FileAddress> => asked.address.kind === "file";

const isPart = (place: MediaPlace): place is PartPlace => place.part !== null;

const BAD_DIRECTIVE = errorText(
  "bad-request",
  "_HLS_msn and _HLS_part must be whole numbers, _HLS_part only together with _HLS_msn",
);
const BAD_SKIP = errorText("bad-request", "_HLS_skip must be YES or v2, given once");
const TOO_FAR = errorText("bad-request", "_HLS_msn is more than two segments ahead of the stream");

/** Keyframes are listed once their segment is stored. One that is not by the time the next is closed will be a gap. */
function hasKeyframe({ dvr }: LiveSource, rendition: string, msn: number): boolean {
  return dvr?.hasIFrame(rendition, msn) ?? false;
}

function sendPlaylist({ res }: MediaRequest, source: LiveSource, playlist: LiveList, cache: string): void {
  const text = playlist.text();
  source.sent.bytes += text.length;
  source.sent.responses.playlist++;
  sendAscii(res, 200, PLAYLIST_TYPE, cache, text);
}

function findInit(rendition: WindowRendition, name: string): InitSegment | null {
  const open = rendition.open?.init;
  if (open?.name === name) return open;
  return rendition.listed.find((segment) => segment.init?.name === name)?.init ?? null;
}

function sendInit({ req, res, caching }: MediaRequest, rendition: WindowRendition, init: InitSegment | null): void {
  if (init) sendBuffers(req, res, mediaType(rendition), caching.immutable, [init.bytes]);
  else sendNotFound(res);
}

function sendSegment(
  { req, res, caching }: MediaRequest,
  source: LiveSource,
  rendition: WindowRendition,
  msn: number,
): void {
  const segment = rendition.segment(msn);
  if (segment?.init === null || msn + 1 === rendition.firstMsn)
    return void sendBuffers(req, res, mediaType(rendition), caching.immutable, [EMPTY_SEGMENT]);
  if (!segment || segment === rendition.open) return sendNotFound(res);
  source.sent.bytes += sendBuffers(req, res, mediaType(rendition), caching.immutable, segment.views);
  holdWhileSending(res, segment);
  source.sent.responses.segment++;
}

function sendPart(
  { req, res, caching }: MediaRequest,
  source: LiveSource,
  rendition: WindowRendition,
  { msn, part }: PartPlace,
): void {
  const segment = rendition.segment(msn);
  const views = segment?.parts[part]?.views;
  if (!segment || !views) return sendNotFound(res);
  source.sent.bytes += sendBuffers(req, res, mediaType(rendition), caching.immutable, views);
  holdWhileSending(res, segment);
  source.sent.responses.part++;
}

/** Unless the system took all bytes at once, the socket may still read them long after the segment has left the window. */
function holdWhileSending(res: ServerResponse, segment: WindowSegment): void {
  if (res.writableFinished) return;
  segment.retain();
  onceClosed(res, () => segment.release());
}

const mediaType = ({ name }: WindowRendition): string => (name === "audio" ? "audio/mp4" : "video/mp4");
