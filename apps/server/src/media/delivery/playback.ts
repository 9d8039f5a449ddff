import type { IncomingMessage, ServerResponse } from "node:http";
import type { Forwarded, OtherNodes } from "../../platform/cluster/index.ts";
import { DatabaseAway } from "../../platform/database-away.ts";
import { requestIdOf } from "../../platform/http/request-id.ts";
import type { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import type { Log } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type { LiveContent, LivePlace, MediaCatalogue, StoredContent } from "../../ports/index.ts";
import type { TranscodeChildren } from "../transcode/index.ts";
import { ArchiveBytes } from "./archive/archive-bytes.ts";
import { ArchiveShelf } from "./archive/archive-shelf.ts";
import type { Admission, Refusal } from "./front/admission.ts";
import { Admissions, type AdmissionsSettings } from "./front/admissions.ts";
import { type HandOver, readGiven } from "./front/given-admission.ts";
import { DvrDelivery } from "./hls/dvr-delivery.ts";
import { HlsDelivery } from "./hls/hls-delivery.ts";
import { StoredDelivery } from "./hls/stored-delivery.ts";
import { type HttpProtocol, MediaRequest, type Route } from "./http/media-request.ts";
import { isRead, sendBusy, sendNotFound, sendRedirect, sendUnavailable } from "./http/media-response.ts";
import type { LiveSource, LiveSources } from "./live-source.ts";
import { Mp4Delivery } from "./mp4/mp4-delivery.ts";
import { type Copies, hasFile, isGoingOn, isOfWindow, NearSources } from "./near-sources.ts";
import { addressOfTrack, RecordingAddresses } from "./other-addresses.ts";
import { StillDelivery } from "./stills/still-delivery.ts";

/** An edge asks here whether it may answer a request from its cache; the request's own URL is in the header. */
const AUTHORIZE = "/hls/authorize";
const ORIGINAL_URI = "x-original-uri";
const MAX_KNOWN = 1_000;
const MAX_KNOWN_LENGTH = 500;

export interface PlaybackSettings extends AdmissionsSettings {
  readonly live: LiveSources;
  readonly catalogue: MediaCatalogue;
  readonly store: ObjectStore;
  readonly proxies: TrustedProxies;
  /** Concurrent responses that may read from the store. */
  readonly maxReads: number;
  /** Processes that decode thumbnails. */
  readonly children: TranscodeChildren;
  /** Null where nodes do not reach each other. */
  readonly copies: Copies | null;
}

/** Playback over plain `node:http`: finds whose address a URL is, asks for admission, and has that protocol answer. */
export class Playback {
  /** Shared by all protocols, also those that are not here, so that a viewer is counted once. */
  readonly admissions: Admissions;
  readonly #log: Log;
  readonly #proxies: TrustedProxies;
  readonly #live: LiveSources;
  readonly #others: OtherNodes | null;
  readonly #copies: Copies | null;
  readonly #shelf: ArchiveShelf;
  readonly #recordings: RecordingAddresses;
  readonly #hls: HlsDelivery;
  readonly #stills: StillDelivery;
  /** The first that knows a URL answers it. */
  readonly #protocols: readonly HttpProtocol[];
  /** Parsed URLs: all viewers of a stream request the same ones at the same time. */
  readonly #known = new Map<string, Route | null>();

  constructor(settings: PlaybackSettings) {
    const { clock, log, catalogue, store, proxies } = settings;
    this.#log = log;
    this.#proxies = proxies;
    this.#live = settings.live;
    this.#others = settings.others;
    this.#copies = settings.copies;
    this.admissions = new Admissions(settings);
    this.#recordings = new RecordingAddresses(clock, catalogue, proxies);
    const bytes = new ArchiveBytes(store, settings.maxReads);
    const shelf = new ArchiveShelf(clock, catalogue, store);
    this.#shelf = shelf;
    const stored = new StoredDelivery(store, shelf, bytes);
    const slices = new Slices(clock);
    const dvr = new DvrDelivery({ catalogue, shelf, slices, maxReads: settings.maxReads });
    const live = new NearSources(settings.live, settings.copies);
    this.#hls = new HlsDelivery({ clock, log, slices, live, stored, dvr });
    this.#stills = new StillDelivery({ ...settings, shelf });
    this.#protocols = [this.#hls, new Mp4Delivery(shelf, bytes), this.#stills];
  }

  /** Number of requests that wait for media. */
  get waiting(): number {
    return this.#hls.waiting;
  }

  /** Lays out a recording's MP4, which reports its size to the catalogue. */
  measureRecording(content: StoredContent): void {
    const measure = async () => (await this.#shelf.find(content))?.mp4("source");
    measure().catch((error: unknown) =>
      this.#log.warn({ err: error, sessionId: content.id }, "could not measure an MP4"),
    );
  }

  /** An image as a keyframe for this `avcC`; null where it takes none. Rejects while too much else waits for the decoder. */
  makeSlate(config: Uint8Array, image: Uint8Array): Promise<Uint8Array | null> {
    return this.#stills.makeSlate(config, image);
  }

  close(): void {
    this.admissions.close();
    this.#stills.close();
  }

  /** With `forwarded`, of a viewer whom another node has admitted. */
  handle(req: IncomingMessage, res: ServerResponse, forwarded: Forwarded | null = null): void {
    if (!isRead(req, res)) return;
    const isEdge = req.url === AUTHORIZE;
    const url = (isEdge ? originalUri(req) : req.url) ?? "";
    const route = this.#find(url);
    if (!route) return sendElsewhere(res, isEdge ? null : addressOfTrack(url));
    const isQuestion = isEdge || forwarded?.isQuestion === true;
    const given = forwarded && readGiven(forwarded.admitted);
    const asked = new MediaRequest(req, res, url, route, this.#proxies, { isQuestion, given });
    const admission = this.admissions.admit(asked);
    if (admission instanceof Promise) this.#finish(res, this.#answerLater(asked, admission));
    else this.#finish(res, this.#answer(asked, admission));
  }

  /** Handles `/recordings/…`. */
  handleRecording(req: IncomingMessage, res: ServerResponse): void {
    if (isRead(req, res)) this.#finish(res, this.#recordings.answer(req, res));
  }

  async #answerLater(asked: MediaRequest, admission: ReturnType<Admissions["admit"]>): Promise<void> {
    await this.#answer(asked, await admission);
  }

  #answer(asked: MediaRequest, admission: Admission | Refusal): void | Promise<void> {
    if (typeof admission === "string" || admission.content.kind !== "live") return asked.answer(admission);
    const place = this.#elsewhere(asked, admission.content);
    return place ? this.#answerOf(place, asked, admission, admission.content) : asked.answer(admission);
  }

  /** The other node that has a stream; null if this one has it, if none has it, or if another node asks. */
  #elsewhere({ given, address }: MediaRequest, { streamId, place }: LiveContent): LivePlace | null {
    if (this.#others === null || given) return null;
    // What the rows say of the place of a stream that this node has is some seconds old.
    if (isGoingOn(this.#live.sessionOf(address.playbackId))) return null;
    return this.#others.placeOf(streamId, place);
  }

  /** Answers for the node at `place`: from a copy of what it has, or by forwarding to it. */
  #answerOf(place: LivePlace, asked: MediaRequest, admission: Admission, content: LiveContent): void | Promise<void> {
    const { address } = asked;
    const answer = (copy: LiveSource | undefined) =>
      copy && isOfWindow(address) && hasFile(copy, address)
        ? asked.answer(admission)
        : this.#forward(asked, admission.handOver(content), place);
    const copy = isOfWindow(address) ? this.#copies?.find(address.playbackId, content.streamId, place) : undefined;
    return copy instanceof Promise ? copy.then(answer) : answer(copy);
  }

  async #forward({ req, res, url, isQuestion }: MediaRequest, viewer: HandOver, place: LivePlace): Promise<void> {
    const { admitted } = viewer;
    const outcome = await this.#others?.send(req, res, place, { url, admitted, isQuestion });
    if (outcome === "answered" && res.statusCode === 200) viewer.counted();
    if (outcome === "full") sendBusy(res, "too many requests for streams of other nodes");
    else if (outcome === "failed") sendUnavailable(res);
  }

  /** Answers the request if what answers it fails. */
  #finish(res: ServerResponse, answered: void | Promise<void>): void {
    answered?.catch((error: unknown) => {
      // The pool logs once that the database is unavailable; one message per failed request would flood the log.
      const level = error instanceof DatabaseAway ? "debug" : "error";
      this.#log[level]({ err: error, requestId: requestIdOf(res.req) }, "a media request failed");
      sendUnavailable(res);
    });
  }

  #find(url: string): Route | null {
    const known = this.#known.get(url);
    if (known !== undefined) return known;
    const route = this.#parse(url);
    if (url.length > MAX_KNOWN_LENGTH) return route;
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(url, route);
    return route;
  }

  #parse(url: string): Route | null {
    for (const protocol of this.#protocols) {
      const address = protocol.parse(url);
      if (address) return { address, protocol };
    }
    return null;
  }
}

function sendElsewhere(res: ServerResponse, location: string | null): void {
  if (location === null) sendNotFound(res);
  else sendRedirect(res, location);
}

/** The header set by the edge. A second one can only come from the viewer, so neither is trusted. */
function originalUri(req: IncomingMessage): string | undefined {
  const given = req.headersDistinct[ORIGINAL_URI];
  return given?.length === 1 ? given[0] : undefined;
}
