import {
  type DvrRecording,
  type MediaCatalogue,
  type MediaIndex,
  recordingPrefix,
  type SealedSegments,
  type StoredContent,
  type StoredRendition,
} from "../../ports/index.ts";
import type { FactLog } from "./fake-gates.ts";

/** Has the recording of `session-1` that the facts tell of. */
export class FakeCatalogue implements MediaCatalogue {
  readonly mp4Sizes = new Map<string, number>();
  /** Whether recordings are ready as soon as they have a segment. */
  areReady = true;
  readonly #facts: FactLog;

  constructor(facts: FactLog) {
    this.#facts = facts;
  }

  async recordingOf(sessionId: string): Promise<string | null> {
    return sessionId === "session-1" ? "recording1" : null;
  }

  async newestRecordingOf(streamId: string): Promise<StoredContent | null> {
    const isRecorded = streamId === "stream-1" && this.#facts.of("segment-closed").length > 0;
    return isRecorded ? { kind: "recording", id: "session-1", projectId: "project-1" } : null;
  }

  async dvrRecording(streamId: string, sessionId: string | null): Promise<DvrRecording | null> {
    const content = this.areReady ? await this.newestRecordingOf(streamId) : null;
    return content && (sessionId ?? content.id) === content.id ? { content, dvrSeconds: 86_400 } : null;
  }

  async *sealedSegments(id: string): AsyncGenerator<SealedSegments, void> {
    const index = await this.mediaIndex({ kind: "recording", id, projectId: "project-1" });
    for (const { rendition, track, segments, spanBytes } of index?.renditions ?? [])
      yield { rendition, track, segments: segments.filter(({ gap, span }) => gap || spanBytes.has(span)) };
  }

  async mediaIndex({ id, projectId }: StoredContent): Promise<MediaIndex | null> {
    const rows = this.#facts.of("segment-closed").flatMap(({ recorded }) => recorded);
    const renditions = new Map<string, StoredRendition & { segments: typeof rows }>();
    for (const row of rows) {
      const { rendition, track } = row;
      if (!renditions.has(rendition)) {
        const sealed = this.#facts.of("span-sealed").filter((fact) => fact.rendition === rendition);
        const spanBytes = new Map(sealed.map(({ span, bytes }) => [span, bytes]));
        renditions.set(rendition, { rendition, track, segments: [], spanBytes });
      }
      renditions.get(rendition)?.segments.push(row);
    }
    if (renditions.size === 0) return null;
    return { id, projectId, keyPrefix: recordingPrefix(projectId, id), renditions: [...renditions.values()] };
  }

  noteMp4Size({ id }: StoredContent, bytes: number): void {
    this.mp4Sizes.set(id, bytes);
  }
}
