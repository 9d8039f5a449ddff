import type { IncomingMessage, ServerResponse } from "node:http";
import type { Audiences } from "../../../platform/audience/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import { DatabaseAway } from "../../../platform/database-away.ts";
import { requestIdOf } from "../../../platform/http/request-id.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { Log } from "../../../platform/log.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { EventSink, PlaybackGate, StoredContent } from "../../../ports/index.ts";
import { liveMultivariant } from "../../packaging/hls/live-multivariant.ts";
import { PreviewMaker, StillMaker } from "../../thumbnails/index.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import { LongResponses } from "../answers/long-responses.ts";
import {
  errorText,
  isRead,
  PERSONAL,
  PLAYLIST_TYPE,
  SHARED,
  sendNotFound,
  sendRedirect,
  sendText,
  sendTooMany,
} from "../answers/media-response.ts";
import { ArchiveDelivery } from "../archive/archive-delivery.ts";
import type { LiveSources } from "../live-source.ts";
import { accessRequestOf, type MediaAddress, MediaAddresses, renditionAddresses } from "../media-address.ts";
import { isStill, parseStillAddress, type StillAddress } from "../stills/still-address.ts";
import { StillDelivery } from "../stills/still-delivery.ts";
import type { Admission, Refusal, Viewing } from "../viewers/admission.ts";
import { Admissions } from "../viewers/admissions.ts";
import { LiveDelivery } from "./live-delivery.ts";
import { addressOfTrack, RecordingAddresses } from "./other-addresses.ts";

/** The phrase that public players recognize as "not allowed". */
const DENIED = "Shutting down since this session is not allowed to view this stream";
const DENIED_TEXT = errorText("playback-denied", DENIED);
/** An edge asks here whether it may answer a request from its cache; the request's own URL is in the header. */
const AUTHORIZE = "/hls/authorize";
const ORIGINAL_URI = "x-original-uri";
/** How long an edge may serve without asking again. */
const AUTHORIZED = "private, max-age=3";

export interface HlsDeliverySettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly live: LiveSources;
  readonly playbackGate: PlaybackGate;
  readonly eventSink: EventSink;
  readonly store: ObjectStore;
  /** 32 bytes, the same on every node. */
  readonly viewerSecret: Uint8Array;
  readonly proxies: TrustedProxies;
  readonly viewersPerClient: number;
  readonly audiences: Audiences;
  /** Concurrent responses that may read from the store. */
  readonly maxReads: number;
  /** Processes that decode thumbnails. */
  readonly children: TranscodeChildren;
}

/** A parsed request. */
interface MediaRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly url: string;
  readonly address: MediaAddress | StillAddress;
  /** True for an edge's question: the response is 204 exactly if the viewer would get the content from this server. */
  readonly isQuestion: boolean;
}

/** HLS and MP4 over plain `node:http`: resolves the URL, checks access, and passes the request to live or recorded delivery. */
export class HlsDelivery {
  readonly #log: Log;
  readonly #sources: LiveSources;
  readonly #admissions: Admissions;
  readonly #live: LiveDelivery;
  readonly #archive: ArchiveDelivery;
  readonly #recordings: RecordingAddresses;
  readonly #longResponses: LongResponses;
  readonly #addresses = new MediaAddresses();
  readonly #maker: StillMaker;
  readonly #previews: PreviewMaker;
  readonly #stills: StillDelivery;

  constructor({ playbackGate, ...settings }: HlsDeliverySettings) {
    const { clock, log, live } = settings;
    this.#log = log;
    this.#sources = live;
    this.#admissions = new Admissions({ ...settings, gate: playbackGate });
    this.#live = new LiveDelivery(clock, log, settings.proxies);
    this.#archive = new ArchiveDelivery({ ...settings, playbackGate });
    this.#recordings = new RecordingAddresses({ ...settings, gate: playbackGate });
    this.#longResponses = new LongResponses(clock);
    this.#maker = new StillMaker({ clock, log, children: settings.children });
    this.#previews = new PreviewMaker({ clock, log, children: settings.children });
    const [maker, previews, archive] = [this.#maker, this.#previews, this.#archive];
    this.#stills = new StillDelivery({ ...settings, gate: playbackGate, maker, previews, archive });
  }

  /** Access rules changed: cached decisions about this playback id, or about all, are discarded. */
  accessChanged(playbackId: string | "all"): void {
    this.#admissions.accessChanged(playbackId);
  }

  /** Shared by all protocols, so that a viewer is counted once. */
  get admissions(): Pick<Admissions, "admit"> {
    return this.#admissions;
  }

  /** Reports the size of a recording's MP4 to the gate. */
  measureRecording(content: StoredContent): void {
    this.#archive
      .measure(content)
      .catch((error: unknown) => this.#log.warn({ err: error, sessionId: content.id }, "could not measure an MP4"));
  }

  /** Number of requests that wait for media. */
  get waiting(): number {
    return this.#live.waiting;
  }

  close(): void {
    this.#admissions.close();
    this.#longResponses.close();
    this.#maker.close();
    this.#previews.close();
  }

  handle(req: IncomingMessage, res: ServerResponse): void {
    if (!isRead(req, res)) return;
    const isQuestion = req.url === AUTHORIZE;
    const url = (isQuestion ? originalUri(req) : req.url) ?? "";
    const address = this.#addresses.find(url) ?? parseStillAddress(url);
    if (!address) return sendElsewhere(res, isQuestion ? null : addressOfTrack(url));
    const asked: MediaRequest = { req, res, url, address, isQuestion };
    const admission = this.#admissions.admit(accessRequestOf(req, url, address));
    if (admission instanceof Promise) void this.#answerLater(asked, admission);
    else this.#answer(asked, admission);
  }

  /** Handles `/recordings/…`. */
  handleRecording(req: IncomingMessage, res: ServerResponse): void {
    if (isRead(req, res)) this.#recordings.answer(req, res).catch((error: unknown) => this.#fail(res, error));
  }

  async #answerLater(asked: MediaRequest, admission: Promise<Admission | Refusal>): Promise<void> {
    try {
      this.#answer(asked, await admission);
    } catch (error) {
      this.#fail(asked.res, error);
    }
  }

  #answer(asked: MediaRequest, admission: Admission | Refusal): void {
    const { address } = asked;
    if (typeof admission === "string") refuse(asked, admission);
    else if (isStill(address)) this.#serveStill(asked, address, admission);
    else if (admission.content.kind === "live") this.#serveLive(asked, address, admission);
    else this.#serveRecording(asked, address, admission, admission.content);
  }

  #serveStill(asked: MediaRequest, address: StillAddress, { content, isShared }: Admission): void {
    const { req, res, url, isQuestion } = asked;
    if (isQuestion) return grant(res);
    const caching = isShared ? SHARED : PERSONAL;
    this.#stills.serve({ req, res, url, address, caching }, content).catch((error: unknown) => this.#fail(res, error));
  }

  #serveLive(asked: MediaRequest, address: MediaAddress, admission: Admission): void {
    const { req, res, isQuestion } = asked;
    const caching = admission.isShared ? SHARED : PERSONAL;
    if (address.kind === "mp4" || address.kind === "original") return sendNotFound(res);
    if (address.kind === "file") {
      const source = this.#sources.session(address.timeline);
      if (source?.playbackId !== address.playbackId) return sendNotFound(res);
      const playlist = source.pipeline.playlist(address.rendition);
      if (!playlist) return sendNotFound(res);
      if (begin(asked, admission)) this.#live.file({ req, res, source, caching, address }, playlist);
      return;
    }
    const source = this.#sources.sessionOf(address.playbackId);
    const offline = () =>
      isQuestion ? grant(res) : sendText(res, 200, PLAYLIST_TYPE, errorPlaylist("Stream is offline"), caching.error);
    if (!source) return offline();
    this.#live.multivariant(source, (listed) => {
      if (!listed) return offline();
      const viewing = begin(asked, admission);
      if (!viewing) return;
      const playlist = liveMultivariant(listed, renditionAddresses(viewing, source.sessionId));
      sendText(res, 200, PLAYLIST_TYPE, playlist, caching.multivariant);
    });
  }

  #serveRecording(asked: MediaRequest, address: MediaAddress, admission: Admission, content: StoredContent): void {
    const { req, res } = asked;
    const caching = admission.isShared ? SHARED : PERSONAL;
    const isDownload = address.kind === "mp4" || address.kind === "original";
    const beginHere = (): Viewing | null => {
      const viewing = begin(asked, admission);
      if (viewing && isDownload) this.#longResponses.watch(res, () => viewing.stillAllowed());
      return viewing;
    };
    this.#archive
      .serve(content, { req, res, address, caching, begin: beginHere })
      .catch((error: unknown) => this.#fail(res, error));
  }

  #fail(res: ServerResponse, error: unknown): void {
    // The pool logs once that the database is unavailable; one message per failed request would flood the log.
    this.#log[error instanceof DatabaseAway ? "debug" : "error"](
      { err: error, requestId: requestIdOf(res.req) },
      "a media request failed",
    );
    if (res.headersSent) return void res.destroy();
    res.setHeader("retry-after", "2");
    sendText(res, 503, "application/json", NOT_NOW, PERSONAL.error);
  }
}

/**
 * Called last, when the requested content exists: counts the viewer. Null if no content is to be sent: a new viewer is refused when the stream is
 * full, and an edge gets 204 instead.
 */
function begin(asked: MediaRequest, admission: Admission): Viewing | null {
  const viewing = admission.countViewer();
  if (!viewing) refuse(asked, "denied");
  else if (asked.isQuestion) grant(asked.res);
  else return viewing;
  return null;
}

function sendElsewhere(res: ServerResponse, location: string | null): void {
  if (location === null) sendNotFound(res);
  else sendRedirect(res, location);
}

const NOT_NOW = errorText("unavailable", "the content cannot be read right now: try again");

/** Unknown, deleted and gated content get the same response, so that nobody can find out which ids exist. */
function refuse({ res, address, isQuestion }: MediaRequest, refusal: Refusal): void {
  // An edge treats any status other than 401 and 403 as an error.
  if (refusal === "gone" && !isQuestion) return sendNotFound(res);
  if (refusal === "invalid-credential")
    return sendText(res, 400, "application/json", INVALID_CREDENTIAL, PERSONAL.error);
  if (refusal === "too-many") return sendTooMany(res);
  const isPlaylist = address.kind === "multivariant" || (address.kind === "file" && address.file.endsWith(".m3u8"));
  if (isPlaylist) sendText(res, 401, PLAYLIST_TYPE, errorPlaylist(DENIED), PERSONAL.error);
  else sendText(res, 401, "application/json", DENIED_TEXT, PERSONAL.error);
}

const INVALID_CREDENTIAL = errorText(
  "bad-request",
  "the token or access key contains invalid characters: use printable UTF-8",
);

function errorPlaylist(phrase: string): string {
  return `#EXTM3U\n#EXT-X-ERROR: ${phrase}\n#EXT-X-ENDLIST\n`;
}

function grant(res: ServerResponse): void {
  res.writeHead(204, ["cache-control", AUTHORIZED]).end();
}

/** The header set by the edge. A second one can only come from the viewer, so neither is trusted. */
function originalUri(req: IncomingMessage): string | undefined {
  const given = req.headersDistinct[ORIGINAL_URI];
  return given?.length === 1 ? given[0] : undefined;
}
