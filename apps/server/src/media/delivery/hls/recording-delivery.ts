import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../platform/clock.ts";
import type { ByteRange, ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaIndex, PlaybackGate, StoredContent } from "../../../ports/index.ts";
import { type Caching, PLAYLIST_TYPE, sendNotFound, sendStored, sendText } from "../media-response.ts";
import type { MediaAddress } from "./media-address.ts";
import { RecordingMp4 } from "./recording-mp4.ts";
import { recordingMultivariant, recordingPlaylist } from "./recording-playlists.ts";

const KEEP_MS = 60_000;
/** Of all kept recordings together, some 150 MB; a day of four renditions has 86,400. */
const MAX_SEGMENTS = 300_000;

interface OpenRecording {
  readonly index: MediaIndex;
  readonly until: number;
  readonly segments: number;
  /** `{rendition}/{name}` of all files that may be asked for: whatever is not in here does not exist. */
  readonly files: ReadonlySet<string>;
  mp4: RecordingMp4 | null;
}

export interface RecordingRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly address: MediaAddress;
  readonly caching: Caching;
  /** Address of a rendition's playlist in the multivariant one. */
  readonly addressOf: (rendition: string) => string;
  /** Asked once it is known that there is something to send; false where it is not to be sent. */
  readonly begins: () => boolean;
}

/** Serves recordings from the object store: playlists rendered from the index, byte ranges of spans, and the MP4 made of them. */
export class RecordingDelivery {
  readonly #clock: Clock;
  readonly #gate: PlaybackGate;
  readonly #store: ObjectStore;
  /** The oldest first. */
  readonly #open = new Map<string, OpenRecording>();
  #segments = 0;

  constructor({ clock, playbackGate, store }: { clock: Clock; playbackGate: PlaybackGate; store: ObjectStore }) {
    this.#clock = clock;
    this.#gate = playbackGate;
    this.#store = store;
  }

  async serve(
    content: StoredContent,
    { req, res, address, caching, addressOf, begins }: RecordingRequest,
  ): Promise<void> {
    const recording = await this.#recording(content);
    if (!recording) return sendNotFound(res);
    const { index } = recording;
    if (address.kind !== "file") {
      if (!begins()) return;
      if (address.kind === "mp4") return this.#mp4(req, res, recording, caching);
      return sendText(res, 200, PLAYLIST_TYPE, recordingMultivariant(index, addressOf), caching.multivariant);
    }
    const rendition = index.renditions.find((candidate) => candidate.rendition === address.rendition);
    if (address.timeline !== index.id || !rendition) return sendNotFound(res);
    const isPlaylist = address.file === "index.m3u8";
    if (!isPlaylist && !recording.files.has(`${address.rendition}/${address.file}`)) return sendNotFound(res);
    if (!begins()) return;
    if (isPlaylist) return sendText(res, 200, PLAYLIST_TYPE, recordingPlaylist(rendition), caching.fresh);
    const key = `${index.keyPrefix}${address.rendition}/${address.file}`;
    // Only an init segment's is not in the index; players ask for one once.
    const size = rendition.spanBytes.get(address.file) ?? (await this.#store.size(key));
    if (size === null) return sendNotFound(res);
    const type = rendition.track.kind === "audio" ? "audio/mp4" : "video/mp4";
    await sendStored(req, res, type, caching.immutable, size, (range) => this.#read(key, range));
  }

  async #mp4(req: IncomingMessage, res: ServerResponse, recording: OpenRecording, caching: Caching): Promise<void> {
    recording.mp4 ??= new RecordingMp4(recording.index);
    const { mp4, index } = recording;
    const readSpan = (rendition: string, span: string, range: ByteRange) =>
      this.#read(`${index.keyPrefix}${rendition}/${span}`, range);
    await sendStored(req, res, "video/mp4", caching.immutable, mp4.size, (range) => mp4.read(range, readSpan));
  }

  async *#read(key: string, range: ByteRange): AsyncIterable<Uint8Array> {
    yield* await this.#store.read(key, range);
  }

  async #recording(content: StoredContent): Promise<OpenRecording | null> {
    const kept = this.#open.get(content.id);
    if (kept && this.#clock.monotonic() < kept.until) return kept;
    const index = await this.#gate.mediaIndex(content);
    if (!index) return null;
    const recording: OpenRecording = {
      index,
      until: this.#clock.monotonic() + KEEP_MS,
      segments: index.renditions.reduce((sum, { segments }) => sum + segments.length, 0),
      files: filesOf(index),
      mp4: null,
    };
    this.#keep(content.id, recording);
    return recording;
  }

  #keep(id: string, recording: OpenRecording): void {
    this.#forget(id);
    for (const oldest of this.#open.keys()) {
      if (this.#segments + recording.segments <= MAX_SEGMENTS) break;
      this.#forget(oldest);
    }
    this.#open.set(id, recording);
    this.#segments += recording.segments;
  }

  #forget(id: string): void {
    this.#segments -= this.#open.get(id)?.segments ?? 0;
    this.#open.delete(id);
  }
}

function filesOf(index: MediaIndex): Set<string> {
  const files = new Set<string>();
  for (const { rendition, segments } of index.renditions) {
    for (const { gap, init, span } of segments) {
      if (!gap) files.add(`${rendition}/${init}`).add(`${rendition}/${span}`);
    }
  }
  return files;
}
