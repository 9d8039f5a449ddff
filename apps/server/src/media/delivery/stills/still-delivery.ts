import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../platform/clock.ts";
import { Places } from "../../../platform/limits/places.ts";
import { TooManyWaiting } from "../../../platform/limits/turns.ts";
import type { Log } from "../../../platform/log.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaCatalogue, StoredContent } from "../../../ports/index.ts";
import type { StoredMedia } from "../../stored/stored-media.ts";
import {
  type ImageShape,
  KEYFRAME_SHAPE,
  PreviewMaker,
  StillMaker,
  Stills,
  StoredPreviews,
  StoredSheets,
  storyboardOf,
  storyboardText,
} from "../../thumbnails/index.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import type { ArchiveShelf } from "../archive/archive-shelf.ts";
import type { Admission } from "../front/admission.ts";
import type { HttpProtocol, MediaRequest } from "../http/media-request.ts";
import { errorText, PERSONAL, sendBusy, sendBytes, sendCoded, sendNotFound, sendText } from "../http/media-response.ts";
import { sendRefusal } from "../http/refusals.ts";
import type { LiveSources } from "../live-source.ts";
import { DvrStills } from "./dvr-stills.ts";
import {
  credentialQuery,
  parsePreviewQuery,
  parseStillAddress,
  parseStillQuery,
  parseWidth,
  type StillAddress,
} from "./still-address.ts";

const TYPES = { jpeg: "image/jpeg", png: "image/png", webp: "image/webp" } as const;
/** Of the seek bar of a live stream. */
const MOMENT_SHAPE: ImageShape = { maxWidth: 160, maxHeight: 160, format: "jpeg" };
const STORYBOARD_TYPE = "text/vtt; charset=utf-8";
/** Images that one client may wait for; all share one child. */
const MAX_PER_CLIENT = 16;
const MAX_IN_ALL = 500;
/** Previews being made or waiting. The total is effectively lower, limited by their slots. */
const MAX_PREVIEWS = { perHolder: 2, inAll: 100 } as const;

export interface StillDeliverySettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ObjectStore;
  /** Processes that decode thumbnails. */
  readonly children: TranscodeChildren;
  readonly live: LiveSources;
  readonly shelf: ArchiveShelf;
  readonly catalogue: Pick<MediaCatalogue, "newestRecordingOf">;
}

/** Thumbnails: the newest picture of a live stream, any picture of stored media, previews, and storyboards. These requests count no viewers. */
export class StillDelivery implements HttpProtocol<StillAddress> {
  readonly parse = parseStillAddress;
  readonly refuse = sendRefusal;
  readonly #settings: StillDeliverySettings;
  readonly #maker: StillMaker;
  readonly #previewMaker: PreviewMaker;
  readonly #stills: Stills;
  readonly #dvr: DvrStills;
  readonly #sheets: StoredSheets;
  readonly #previews: StoredPreviews;
  readonly #previewPlaces = new Places(MAX_PREVIEWS);
  readonly #places = new Places({ inAll: MAX_IN_ALL, perHolder: MAX_PER_CLIENT });

  constructor(settings: StillDeliverySettings) {
    this.#settings = settings;
    const { clock, log, store, children } = settings;
    this.#maker = new StillMaker({ clock, log, children });
    this.#previewMaker = new PreviewMaker({ clock, log, children });
    this.#stills = new Stills(this.#maker, clock);
    this.#dvr = new DvrStills(this.#stills);
    this.#previews = new StoredPreviews(this.#previewMaker, clock);
    this.#sheets = new StoredSheets({ clock, log, maker: this.#maker, store });
  }

  /** By the same child that makes thumbnails. */
  makeSlate(config: Uint8Array, image: Uint8Array): Promise<Uint8Array | null> {
    return this.#maker.slate(config, image);
  }

  close(): void {
    this.#maker.close();
    this.#previewMaker.close();
  }

  async serve(asked: MediaRequest<StillAddress>, { content }: Admission): Promise<void> {
    if (asked.isQuestion) return asked.grant();
    const { res, client } = asked;
    if (!this.#places.take(client)) return sendBusy(res, TOO_MANY);
    try {
      if (content.kind === "live") await this.#serveLive(asked, content.streamId);
      else await this.#serveStored(asked, content);
    } catch (error) {
      if (!(error instanceof TooManyWaiting)) throw error;
      sendBusy(res, TOO_MANY);
    } finally {
      this.#places.giveBack(client);
    }
  }

  /** The newest picture; an offline stream's thumbnail is the last picture of its newest recording. */
  async #serveLive(asked: MediaRequest<StillAddress>, streamId: string): Promise<void> {
    const { res, url, address, caching } = asked;
    if (address.kind === "storyboard" || address.kind === "moment") return this.#serveDvr(asked);
    if (address.kind !== "still" || typeof address.picture === "number") return sendNotFound(res);
    const source = await this.#settings.live.sessionOf(address.playbackId);
    if (!source) {
      const recording = address.picture === "at" ? await this.#settings.catalogue.newestRecordingOf(streamId) : null;
      const width = parseWidth(url) ?? KEYFRAME_SHAPE.maxWidth;
      const shape: ImageShape = { maxWidth: width, maxHeight: width, format: address.format };
      const last = recording && (await this.#stills.last(recording.id, () => this.#mediaOf(recording), shape));
      return sendImage(res, address.format, last, caching.still);
    }
    const { sessionId, outputs } = source;
    const image = await this.#stills.newest({ sessionId, listed: outputs.listed }, parseWidth(url), address.format);
    sendImage(res, address.format, image, caching.still);
  }

  /** What viewers can go back to now. */
  async #serveDvr({ req, res, url, address, caching }: MediaRequest<StillAddress>): Promise<void> {
    const source = await this.#settings.live.sessionOf(address.playbackId);
    const dvr = source?.dvr;
    if (!source || !dvr) return sendNotFound(res);
    if (address.kind === "storyboard") {
      const text = this.#dvr.list(source, dvr, credentialQuery(url));
      return text === null ? sendNotFound(res) : sendVtt(req, res, caching.fresh, text);
    }
    if (address.kind !== "moment" || address.sessionId !== source.sessionId) return sendNotFound(res);
    sendImage(res, "jpeg", await this.#dvr.at(source, dvr, address.msn, MOMENT_SHAPE), caching.immutable);
  }

  async #serveStored(asked: MediaRequest<StillAddress>, content: StoredContent): Promise<void> {
    const { req, res, url, address, caching } = asked;
    const media = await this.#mediaOf(content);
    const storyboard = media && storyboardOf(media.index);
    if (!media || !storyboard) return sendNotFound(res);
    if (address.kind === "storyboard") {
      return sendVtt(req, res, caching.fresh, storyboardText(storyboard, credentialQuery(url), address.cues));
    }
    if (address.kind === "sheet") {
      const sheet = await this.#sheets.get(media, storyboard, address.nth);
      return sendImage(res, "jpeg", sheet?.image ?? null, sheet?.isWhole ? caching.immutable : caching.still);
    }
    if (address.kind === "moment") return sendNotFound(res);
    if (address.kind === "preview") return this.#servePreview(asked, media);
    const { picture, format } = address;
    const time = picture === "at" ? parseStillQuery(url) : { seconds: storyboard.starts[Number(picture)], width: null };
    if (time === "invalid") return sendText(res, 400, "application/json", INVALID_QUERY, PERSONAL.error);
    if (picture === "latest" || time.seconds === undefined) return sendNotFound(res);
    const { width } = time;
    const size = width === null ? KEYFRAME_SHAPE : { maxWidth: width, maxHeight: width };
    // Without a time, use the middle: the first picture is often black.
    const seconds = time.seconds ?? storyboard.endSeconds / 2;
    const shape: ImageShape = { ...size, format };
    sendImage(res, format, await this.#stills.at(media, seconds, shape), caching.immutable);
  }

  /** Null if there is nothing to play. */
  async #mediaOf(content: StoredContent): Promise<StoredMedia | null> {
    return (await this.#settings.shelf.find(content))?.media ?? null;
  }

  async #servePreview({ res, url, client, caching }: MediaRequest, media: StoredMedia): Promise<void> {
    const shape = parsePreviewQuery(url);
    if (shape === "invalid") return sendText(res, 400, "application/json", INVALID_PREVIEW, PERSONAL.error);
    if (!this.#previewPlaces.take(client)) return sendBusy(res, TOO_MANY);
    try {
      sendImage(res, "webp", await this.#previews.of(media, shape), caching.immutable);
    } finally {
      this.#previewPlaces.giveBack(client);
    }
  }
}

function sendVtt(req: IncomingMessage, res: ServerResponse, cache: string, text: string): void {
  const bytes = Buffer.from(text);
  const etag = `"${hash("sha256", bytes, "base64url").slice(0, 22)}"`;
  sendCoded(req, res, STORYBOARD_TYPE, cache, { bytes, etag, coding: null });
}

function sendImage(res: ServerResponse, format: keyof typeof TYPES, image: Uint8Array | null, cache: string): void {
  if (image) sendBytes(res, TYPES[format], cache, image);
  else sendNotFound(res);
}

const INVALID_QUERY = errorText("bad-request", "time is a number of seconds, and width one of 160, 320, 640 and 1280");
const INVALID_PREVIEW = errorText(
  "bad-request",
  "start and end are numbers of seconds at most 10 apart, width is one of 160, 320 and 640, and fps a whole number from 1 to 15",
);
const TOO_MANY = "too many concurrent image requests";
