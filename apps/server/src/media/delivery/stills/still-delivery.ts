import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../platform/clock.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { Places } from "../../../platform/limits/places.ts";
import { TooManyWaiting } from "../../../platform/limits/turns.ts";
import type { Log } from "../../../platform/log.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaIndex, PlaybackContent, PlaybackGate, StoredContent } from "../../../ports/index.ts";
import {
  type ImageShape,
  LiveStills,
  type PreviewMaker,
  type StillMaker,
  StoredPreviews,
  StoredSheets,
  StoredStills,
  storyboardOf,
  storyboardText,
} from "../../thumbnails/index.ts";
import {
  type Caching,
  errorText,
  PERSONAL,
  sendBytes,
  sendCoded,
  sendNotFound,
  sendText,
} from "../answers/media-response.ts";
import type { ArchiveDelivery } from "../archive/archive-delivery.ts";
import type { LiveSources } from "../live-source.ts";
import { credentialQuery, parsePreviewQuery, parseStillQuery, parseWidth, type StillAddress } from "./still-address.ts";

const TYPES = { jpeg: "image/jpeg", png: "image/png", webp: "image/webp" } as const;
const STORYBOARD_TYPE = "text/vtt; charset=utf-8";
const KEYFRAME_SHAPE = { maxWidth: 640, maxHeight: 360 } as const;
/** Images that one client may wait for; all share one child. */
const MAX_PER_CLIENT = 16;
const MAX_IN_ALL = 500;
/** Previews being made or waiting. The total is effectively lower, limited by their slots. */
const MAX_PREVIEWS = { perHolder: 2, inAll: 100 } as const;

export interface StillRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly url: string;
  readonly address: StillAddress;
  readonly caching: Caching;
}

export interface StillDeliverySettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly maker: StillMaker;
  readonly previews: PreviewMaker;
  readonly live: LiveSources;
  readonly archive: ArchiveDelivery;
  readonly gate: Pick<PlaybackGate, "newestRecordingOf">;
  readonly proxies: TrustedProxies;
}

/** Thumbnails: the newest picture of a live stream, any picture of stored media, previews, and storyboards. These requests count no viewers. */
export class StillDelivery {
  readonly #sources: LiveSources;
  readonly #archive: ArchiveDelivery;
  readonly #gate: Pick<PlaybackGate, "newestRecordingOf">;
  readonly #proxies: TrustedProxies;
  readonly #live: LiveStills;
  readonly #stored: StoredStills;
  readonly #sheets: StoredSheets;
  readonly #previews: StoredPreviews;
  readonly #previewPlaces = new Places(MAX_PREVIEWS);
  readonly #places = new Places({ inAll: MAX_IN_ALL, perHolder: MAX_PER_CLIENT });

  constructor({ clock, log, store, maker, previews, live, archive, gate, proxies }: StillDeliverySettings) {
    this.#sources = live;
    this.#archive = archive;
    this.#gate = gate;
    this.#proxies = proxies;
    this.#live = new LiveStills(maker, clock);
    this.#stored = new StoredStills(maker, archive, clock);
    this.#previews = new StoredPreviews(previews, archive, clock);
    this.#sheets = new StoredSheets({ clock, log, maker, bytes: archive, store });
  }

  async serve(asked: StillRequest, content: PlaybackContent): Promise<void> {
    const { req, res } = asked;
    const client = this.#proxies.clientOf(req);
    if (!this.#places.take(client)) return sendBusy(res);
    try {
      if (content.kind === "live") await this.#serveLive(asked, content.streamId);
      else await this.#serveStored(asked, content);
    } catch (error) {
      if (!(error instanceof TooManyWaiting)) throw error;
      sendBusy(res);
    } finally {
      this.#places.giveBack(client);
    }
  }

  /** The newest picture; an offline stream's thumbnail is the last picture of its newest recording. */
  async #serveLive({ res, url, address, caching }: StillRequest, streamId: string): Promise<void> {
    if (address.kind !== "still" || typeof address.picture === "number") return sendNotFound(res);
    const source = this.#sources.sessionOf(address.playbackId);
    if (!source) {
      const recording = address.picture === "at" ? await this.#gate.newestRecordingOf(streamId) : null;
      const width = parseWidth(url) ?? KEYFRAME_SHAPE.maxWidth;
      const shape: ImageShape = { maxWidth: width, maxHeight: width, format: address.format };
      const last = recording && (await this.#stored.last(recording.id, () => this.#archive.index(recording), shape));
      return sendImage(res, address.format, last, caching.still);
    }
    const { sessionId, pipeline } = source;
    const image = await this.#live.newest({ sessionId, listed: pipeline.listed }, parseWidth(url), address.format);
    sendImage(res, address.format, image, caching.still);
  }

  async #serveStored(asked: StillRequest, content: StoredContent): Promise<void> {
    const { req, res, url, address, caching } = asked;
    const index = await this.#archive.index(content);
    const storyboard = index && storyboardOf(index);
    if (!index || !storyboard) return sendNotFound(res);
    if (address.kind === "storyboard") {
      const bytes = Buffer.from(storyboardText(storyboard, credentialQuery(url), address.cues));
      const etag = `"${hash("sha256", bytes, "base64url").slice(0, 22)}"`;
      return sendCoded(req, res, STORYBOARD_TYPE, caching.fresh, { bytes, etag, coding: null });
    }
    if (address.kind === "sheet") {
      const sheet = await this.#sheets.get(index, storyboard, address.nth);
      return sendImage(res, "jpeg", sheet?.image ?? null, sheet?.isWhole ? caching.immutable : caching.still);
    }
    if (address.kind === "preview") return this.#servePreview(asked, index);
    const { picture, format } = address;
    const time = picture === "at" ? parseStillQuery(url) : { seconds: storyboard.starts[Number(picture)], width: null };
    if (time === "invalid") return sendText(res, 400, "application/json", INVALID_QUERY, PERSONAL.error);
    if (picture === "latest" || time.seconds === undefined) return sendNotFound(res);
    const { width } = time;
    const size = width === null ? KEYFRAME_SHAPE : { maxWidth: width, maxHeight: width };
    // Without a time, use the middle: the first picture is often black.
    const seconds = time.seconds ?? storyboard.endSeconds / 2;
    const shape: ImageShape = { ...size, format };
    sendImage(res, format, await this.#stored.at(index, seconds, shape), caching.immutable);
  }

  async #servePreview({ req, res, url, caching }: StillRequest, index: MediaIndex): Promise<void> {
    const shape = parsePreviewQuery(url);
    if (shape === "invalid") return sendText(res, 400, "application/json", INVALID_PREVIEW, PERSONAL.error);
    const client = this.#proxies.clientOf(req);
    if (!this.#previewPlaces.take(client)) return sendBusy(res);
    try {
      sendImage(res, "webp", await this.#previews.of(index, shape), caching.immutable);
    } finally {
      this.#previewPlaces.giveBack(client);
    }
  }
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
const TOO_MANY = errorText("too-busy", "too many concurrent image requests: try again in a second");

function sendBusy(res: ServerResponse): void {
  res.setHeader("retry-after", "1");
  sendText(res, 503, "application/json", TOO_MANY, PERSONAL.error);
}
