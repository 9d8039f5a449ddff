import type { DvrRecording, MediaCatalogue, MediaIndex, SealedSegments, StoredContent } from "../../ports/index.ts";
import { readAssetMedia } from "../assets/index.ts";
import { DecisionCache } from "../decision-cache.ts";
import type { Deps } from "../deps.ts";
import { isId } from "../ids.ts";
import { LastingAnswers } from "../lasting-answers.ts";
import {
  type NewestRecording,
  type RewindableRecording,
  readRecordingIndex,
  readSealedSegments,
  recordMp4Size,
} from "../recordings/index.ts";
import type { PlayableFinder } from "./playable-finder.ts";

const NEWEST_MS = 1_000;
const MAX_STREAMS = 10_000;
/** The index of a day takes about 10 MB. It never changes once the recording is ready. */
const INDEX_MS = 30_000;
const MAX_INDEXES = 8;

export interface StoredCatalogueDeps extends Pick<Deps, "db" | "clock" | "log"> {
  readonly playables: PlayableFinder;
}

/** Recordings and assets, and the indexes of their media. While the database is unavailable, an index that was read before still serves. */
export class StoredCatalogue implements MediaCatalogue {
  readonly #deps: StoredCatalogueDeps;
  readonly #newest: DecisionCache<NewestRecording | undefined>;
  readonly #rewindable: DecisionCache<RewindableRecording | undefined>;
  readonly #indexes: LastingAnswers<MediaIndex>;

  constructor(deps: StoredCatalogueDeps) {
    this.#deps = deps;
    this.#newest = new DecisionCache(deps.clock, NEWEST_MS, MAX_STREAMS);
    this.#rewindable = new DecisionCache(deps.clock, NEWEST_MS, MAX_STREAMS);
    this.#indexes = new LastingAnswers(deps.clock, { freshMs: INDEX_MS, capacity: MAX_INDEXES });
  }

  async recordingOf(sessionId: string): Promise<string | null> {
    return (await this.#deps.playables.findSession(sessionId))?.playback_id ?? null;
  }

  async newestRecordingOf(streamId: string): Promise<StoredContent | null> {
    const found = await this.#newest.get(streamId, () => this.#deps.playables.findNewestRecording(streamId));
    return found ? { kind: "recording", ...found } : null;
  }

  async dvrRecording(streamId: string, sessionId: string | null): Promise<DvrRecording | null> {
    if (sessionId !== null && !isId(sessionId)) return null;
    const look = () => this.#deps.playables.findRewindable(streamId, sessionId);
    const found = await this.#rewindable.get(`${streamId}/${sessionId ?? ""}`, look);
    if (!found) return null;
    const { dvrSeconds, ...recording } = found;
    return { content: { kind: "recording", ...recording }, dvrSeconds };
  }

  sealedSegments(sessionId: string): AsyncIterable<SealedSegments> {
    return readSealedSegments(this.#deps.db, sessionId);
  }

  async mediaIndex({ kind, id }: StoredContent): Promise<MediaIndex | null> {
    const read = kind === "asset" ? readAssetMedia : readRecordingIndex;
    const look = async () => (await read(this.#deps.db, id)) ?? undefined;
    const index = await this.#indexes.get(id, look);
    // "Not yet" is not a lasting answer, nor is a part of the renditions.
    return index && !index.isGrowing ? index : ((await look()) ?? null);
  }

  noteMp4Size({ kind, id }: StoredContent, bytes: number): void {
    if (kind !== "recording") return;
    const { db, log } = this.#deps;
    recordMp4Size(db, id, bytes).catch((error: unknown) =>
      log.warn({ err: error, sessionId: id }, "could not record the size of an MP4"),
    );
  }
}
