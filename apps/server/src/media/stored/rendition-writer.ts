import type { StoredRendition, StoredSegment, StoredTrack } from "../../ports/index.ts";
import { keyframeOf, SpanWriter, type UnplacedSegment } from "./span-writer.ts";
import type { StoredFiles } from "./stored-files.ts";

/** Writes one rendition of stored media to the object store, span by span. */
export class RenditionWriter {
  readonly #files: StoredFiles;
  readonly #rendition: string;
  readonly #span: SpanWriter;
  readonly #inits = new Set<string>();
  readonly #segments: StoredSegment[] = [];
  readonly #spanBytes = new Map<string, number>();

  constructor(files: StoredFiles, rendition: string, epoch: number) {
    this.#files = files;
    this.#rendition = rendition;
    this.#span = new SpanWriter(epoch);
  }

  /** Call before adding a segment that uses it. An init segment of the same name is stored already. */
  async putInit(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#inits.has(name)) return;
    await this.#files.put(`${this.#rendition}/${name}`, bytes);
    this.#inits.add(name);
  }

  /** The memory of `pieces` may be reused as soon as the call returns. */
  async add({ keyframeBytes, ...row }: UnplacedSegment, pieces: readonly Uint8Array[]): Promise<void> {
    const copies = pieces.map((piece) => new Uint8Array(piece));
    // Of a segment that was cut or edited since, the picture ends elsewhere.
    const picture = keyframeBytes === undefined ? {} : keyframeOf(row.isIndependent, copies);
    this.#segments.push(this.#span.add({ ...row, ...picture }, copies));
    if (this.#span.isFull) await this.#put();
  }

  /** Stores the rest. */
  async end(track: StoredTrack): Promise<StoredRendition> {
    await this.#put();
    return { rendition: this.#rendition, track, segments: this.#segments, spanBytes: this.#spanBytes };
  }

  async #put(): Promise<void> {
    const ended = this.#span.end();
    if (!ended) return;
    const bytes = Buffer.concat(ended.pieces);
    await this.#files.put(`${this.#rendition}/${ended.span}`, bytes);
    this.#spanBytes.set(ended.span, bytes.byteLength);
  }
}
