import type { ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { codingFor } from "../../../platform/http/content-coding.ts";
import { onceClosed } from "../../../platform/http/once-closed.ts";
import { Places } from "../../../platform/limits/places.ts";
import type { Slices } from "../../../platform/slices.ts";
import type { DvrRecording, MediaCatalogue } from "../../../ports/index.ts";
import { type DvrList, ENDED, type ListedSegment } from "../../dvr/dvr-list.ts";
import { storedList } from "../../dvr/earlier-rows.ts";
import type { ListText } from "../../dvr/list-text.ts";
import { DVR_I_FRAMES, DVR_PLAYLIST, type SessionDvr } from "../../dvr/session-dvr.ts";
import { archiveMultivariant } from "../../stored/archive-playlists.ts";
import type { OpenMedia } from "../../stored/open-media.ts";
import type { KeptSegments } from "../../stored/session-media.ts";
import type { ArchiveShelf } from "../archive/archive-shelf.ts";
import { SharedReads } from "../archive/shared-reads.ts";
import type { Admission } from "../front/admission.ts";
import type { MediaRequest } from "../http/media-request.ts";
import {
  EMPTY_SEGMENT,
  sendBuffers,
  sendBusy,
  sendCoded,
  sendNotFound,
  sendText,
  sendUnavailable,
} from "../http/media-response.ts";
import type { LiveSource } from "../live-source.ts";
import { type FileAddress, renditionAddresses } from "./hls-addresses.ts";
import { PLAYLIST_TYPE } from "./hls-answers.ts";

const MAX_RESPONSES_PER_CLIENT = 200;
/** One that is larger than this is not served from here. */
const MAX_SEGMENT_BYTES = 32 * 1024 * 1024;
/** Of segments in memory until slow clients have read them. */
const MAX_HELD_BYTES = { inAll: 256 * 1024 * 1024, perHolder: 64 * 1024 * 1024 };
const MAX_INITS = 1_000;
/** Lists of ended sessions, by their segments: some 50 bytes each. */
const MAX_SEGMENTS = 300_000;
/** What lists cost that have fewer. */
const MIN_SEGMENTS = 100;

export interface DvrDeliverySettings {
  readonly catalogue: MediaCatalogue;
  readonly shelf: ArchiveShelf;
  readonly slices: Slices;
  /** Concurrent responses that may hold a stored segment. */
  readonly maxReads: number;
}

/** Sessions that viewers go back in: the same names and numbers while they are live and after, wherever the bytes are now. */
export class DvrDelivery {
  readonly #settings: DvrDeliverySettings;
  readonly #reads = new SharedReads();
  readonly #inits = new LRUCache<string, Uint8Array>({ max: MAX_INITS });
  readonly #responses: Places;
  /** Bytes that responses hold. */
  readonly #held = new Places(MAX_HELD_BYTES);
  readonly #ended = new LRUCache<string, { readonly media: OpenMedia; readonly list: DvrList }>({
    maxSize: MAX_SEGMENTS,
    sizeCalculation: ({ list }) => Math.min(MAX_SEGMENTS, Math.max(MIN_SEGMENTS, list.length)),
  });

  constructor(settings: DvrDeliverySettings) {
    this.#settings = settings;
    this.#responses = new Places({ inAll: settings.maxReads, perHolder: MAX_RESPONSES_PER_CLIENT });
  }

  /** The list of a live session, as it is now. */
  playlist(asked: MediaRequest<FileAddress>, source: LiveSource, dvr: SessionDvr, cache: string): void | Promise<void> {
    const { req, res, address, caching } = asked;
    const isDelta = address.skip === true;
    const send = (): void => {
      const text = dvr.text(address.rendition, isDelta, codingOf(asked));
      if (!text) return dvr.isReady ? sendNotFound(res) : sendUnavailable(res);
      source.sent.bytes += text.bytes.byteLength;
      source.sent.responses.playlist++;
      // A cache that ignores queries would give it to a client that has nothing to merge it with.
      sendCoded(req, res, PLAYLIST_TYPE, isDelta ? caching.fresh : cache, text);
    };
    const unrendered = [...dvr.unrendered(address.rendition, isDelta)];
    if (unrendered.length < 2) return send();
    return this.#settings.slices.forEach(unrendered, (render) => render(), { lookEvery: 1 }).then(send);
  }

  /** The list of the keyframes of a live session. */
  async iFrames(asked: MediaRequest<FileAddress>, source: LiveSource, dvr: SessionDvr, cache: string): Promise<void> {
    const { req, res, address, caching } = asked;
    const isDelta = address.skip === true;
    await this.#settings.slices.forEach(dvr.unrenderedIFrames(address.rendition), (render) => render(), {
      lookEvery: 1,
    });
    const text = dvr.iFrames(address.rendition, isDelta, codingOf(asked));
    if (!text) return dvr.isReady ? sendNotFound(res) : sendUnavailable(res);
    source.sent.bytes += text.bytes.byteLength;
    source.sent.responses.playlist++;
    sendCoded(req, res, PLAYLIST_TYPE, isDelta ? caching.fresh : cache, text);
  }

  /** A segment of a live session. */
  async segment(asked: MediaRequest<FileAddress>, source: LiveSource, dvr: SessionDvr, msn: number): Promise<void> {
    const { req, res, address, caching } = asked;
    const { rendition, timeline } = address;
    const live = dvr.inWindow(rendition, msn);
    if (live) {
      source.sent.bytes += sendBuffers(req, res, typeOf(rendition), caching.immutable, live.bytes);
      source.sent.responses.segment++;
      if (res.writableFinished) return;
      live.segment.retain();
      onceClosed(res, () => live.segment.release());
      return;
    }
    const sent = await this.#send(asked, timeline, dvr.listed(rendition, msn), dvr.sources);
    source.sent.bytes += sent;
    source.sent.responses.segment++;
  }

  /** An init segment that the live window does not have any more. */
  async init(asked: MediaRequest<FileAddress>, dvr: SessionDvr): Promise<void> {
    const { rendition, file } = asked.address;
    if (!dvr.hasInit(rendition, file)) return sendNotFound(asked.res);
    return this.#sendInit(asked, dvr.sources);
  }

  /** The multivariant playlist of a stream's newest session, which is over; false if there is none. */
  async endedMultivariant(asked: MediaRequest, admission: Admission, streamId: string): Promise<boolean> {
    const found = await this.#recording(streamId, null);
    if (!found) return false;
    const viewing = asked.begin(admission);
    if (!viewing) return true;
    const { media } = found;
    const addresses = renditionAddresses(viewing, media.index.id, DVR_PLAYLIST);
    const iFrameAddresses = renditionAddresses(viewing, media.index.id, DVR_I_FRAMES);
    const text = archiveMultivariant(media.renditions.values(), addresses, iFrameAddresses);
    sendText(asked.res, 200, PLAYLIST_TYPE, text, asked.caching.multivariant);
    return true;
  }

  /** A file of a session that is over. */
  async endedFile(asked: MediaRequest<FileAddress>, admission: Admission, streamId: string): Promise<void> {
    const { req, res, address, caching } = asked;
    const { timeline, rendition, file, dvrMsn, skip } = address;
    const found = await this.#recording(streamId, timeline);
    const list = found && (await this.#listOf(found, rendition));
    if (!found || !list || skip === "invalid") return sendNotFound(res);
    const { media } = found;
    const iFrames = file === DVR_I_FRAMES ? await this.#iFramesOf(list, media) : null;
    const isKnown = file === DVR_PLAYLIST || iFrames !== null || dvrMsn !== null || list.hasInit(file);
    if (!isKnown) return sendNotFound(res);
    if (!asked.begin(admission)) return;
    if (file === DVR_PLAYLIST) {
      const text = list.text({ ...ENDED, targetDuration: longestOf(media) }, false);
      return sendCoded(req, res, PLAYLIST_TYPE, caching.fresh, text.in(codingOf(asked)));
    }
    if (iFrames) return sendCoded(req, res, PLAYLIST_TYPE, caching.fresh, iFrames.in(codingOf(asked)));
    if (dvrMsn === null) return this.#sendInit(asked, [media.media]);
    await this.#send(asked, timeline, list.segment(dvrMsn), [media.media]);
  }

  async #iFramesOf(list: DvrList, media: OpenMedia): Promise<ListText | null> {
    await this.#settings.slices.forEach(list.keyframes.unrendered(), (render) => render(), { lookEvery: 1 });
    return list.keyframes.text({ ...ENDED, targetDuration: longestOf(media) }, false);
  }

  async #recording(streamId: string, sessionId: string | null) {
    const { catalogue, shelf } = this.#settings;
    const recording: DvrRecording | null = await catalogue.dvrRecording(streamId, sessionId);
    const media = recording && (await shelf.find(recording.content));
    return media && { media, dvrSeconds: recording.dvrSeconds };
  }

  async #listOf(
    { media, dvrSeconds }: { media: OpenMedia; dvrSeconds: number },
    name: string,
  ): Promise<DvrList | null> {
    const rendition = media.renditions.get(name);
    if (!rendition) return null;
    const key = `${media.index.id}/${name}/${dvrSeconds}`;
    const kept = this.#ended.get(key);
    if (kept?.media === media) return kept.list;
    const list = await storedList(this.#settings.slices, rendition.stored, dvrSeconds);
    this.#ended.set(key, { media, list });
    return list;
  }

  /** Returns the number of bytes sent. */
  async #send(
    asked: MediaRequest<FileAddress>,
    sessionId: string,
    segment: ListedSegment | null,
    sources: readonly KeptSegments[],
  ): Promise<number> {
    const { req, res, address, client, caching } = asked;
    const { rendition } = address;
    // What was lost has no other content than before: its viewers may have it.
    if (segment && segment.init === null && !segment.isMissing)
      return sendBuffers(req, res, typeOf(rendition), caching.immutable, [EMPTY_SEGMENT]);
    const place = segment?.place;
    if (!place || place.length > MAX_SEGMENT_BYTES) {
      sendNotFound(res);
      return 0;
    }
    // Who scrubs asks for first pictures alone, a twentieth of the bytes.
    const { keyframeBytes = 0 } = place;
    const isKeyframe = keyframeBytes > 0 && req.headers.range === `bytes=0-${keyframeBytes - 1}`;
    const length = isKeyframe ? keyframeBytes : place.length;
    if (!this.#begin(res, client, length)) {
      sendBusy(res, "too many concurrent downloads");
      return 0;
    }
    const row = { ...segment, ...place, startTicks: 0, durationTicks: 0, gap: false, init: segment.init ?? "" };
    const key = `${sessionId}/${rendition}/${segment.msn}${isKeyframe ? "/keyframe" : ""}`;
    const bytes = await this.#reads.read(key, length, async (views) => {
      for (const source of sources) {
        const filled = await source.fill(rendition, row, views);
        if (filled !== null) return filled;
      }
      return null;
    });
    // Nowhere, or not whole: a disk that lost its power may have less than its journal says.
    if (!bytes) {
      sendNotFound(res);
      return 0;
    }
    onceClosed(res, () => bytes.release());
    return res.destroyed ? 0 : sendBuffers(req, res, typeOf(rendition), caching.immutable, bytes.views, place.length);
  }

  /** False if too many responses hold segments, or too much of them. */
  #begin(res: ServerResponse, client: string, bytes: number): boolean {
    if (!this.#held.take(client, bytes)) return false;
    if (!this.#responses.take(client)) {
      this.#held.giveBack(client, bytes);
      return false;
    }
    onceClosed(res, () => {
      this.#held.giveBack(client, bytes);
      this.#responses.giveBack(client);
    });
    return true;
  }

  async #sendInit(asked: MediaRequest<FileAddress>, sources: readonly KeptSegments[]): Promise<void> {
    const { req, res, address, caching } = asked;
    const { timeline, rendition, file } = address;
    const key = `${timeline}/${rendition}/${file}`;
    for (const source of sources) {
      const bytes = this.#inits.get(key) ?? (await source.readInit(rendition, file));
      if (!bytes) continue;
      this.#inits.set(key, bytes);
      return void sendBuffers(req, res, typeOf(rendition), caching.immutable, [bytes]);
    }
    sendNotFound(res);
  }
}

/** What is compressed once serves everybody; no second coding is kept. */
const CODINGS = ["gzip"] as const;
const codingOf = ({ req }: MediaRequest) => codingFor(req.headers["accept-encoding"], CODINGS);

const longestOf = ({ renditions }: OpenMedia): number =>
  Math.max(...[...renditions.values()].map(({ targetDuration }) => targetDuration));

const typeOf = (rendition: string): string => (rendition.startsWith("audio") ? "audio/mp4" : "video/mp4");
