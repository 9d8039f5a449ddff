import type { AssetFile, CreateAssetOptions, SourceProgress } from "@weir/client";
import type { NewAsset } from "@weir/contract";

/** A file on its way to be an asset. */
export interface Upload {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly progress: SourceProgress;
  /** The position and the time at which the upload began or resumed; milliseconds since the epoch. */
  readonly begun: { readonly at: number; readonly progress: number } | null;
}

/** The same for all files that are chosen at a time. */
export type UploadOptions = Pick<NewAsset, "playbackPolicy" | "keepOriginal">;

export interface UploadsView {
  readonly uploads: readonly Upload[];
  readonly isPaused: boolean;
}

/** The part of an `AssetCreation` that the uploads use. */
interface Creation {
  pause(): void;
  resume(): void;
}

type Create = (sources: readonly AssetFile[], options: CreateAssetOptions) => Creation;

/** All uploads of this window. They continue while the person looks at other pages. */
export class Uploads {
  readonly #create: Create;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #creations = new Set<Creation>();
  #view: UploadsView = { uploads: [], isPaused: false };
  #batches = 0;

  constructor(create: Create, now: () => number = Date.now) {
    this.#create = create;
    this.#now = now;
  }

  readonly view = (): UploadsView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  add(files: readonly File[], options: UploadOptions): void {
    if (files.length === 0) return;
    const batch = this.#batches++;
    const ids = files.map((_, index) => `${batch}-${index}`);
    const added = files.map(({ name, size }, index): Upload => {
      return { id: ids[index] ?? "", name, size, progress: { phase: "waiting" }, begun: null };
    });
    this.#show({ uploads: [...this.#view.uploads, ...added] });
    const creation = this.#create(
      files.map((file) => ({ name: file.name, file, ...options })),
      { onProgress: (progress) => this.#progressed(ids, progress) },
    );
    if (this.#view.isPaused) creation.pause();
    this.#creations.add(creation);
  }

  pause(): void {
    for (const creation of this.#creations) creation.pause();
    // The estimate starts again from the position at which the upload resumed.
    this.#show({ isPaused: true, uploads: this.#view.uploads.map((upload) => ({ ...upload, begun: null })) });
  }

  resume(): void {
    for (const creation of this.#creations) creation.resume();
    this.#show({ isPaused: false });
  }

  /** Removes uploads that have ended from the list. */
  clear(): void {
    this.#show({ uploads: this.#view.uploads.filter((upload) => !isOver(upload)) });
  }

  #progressed(ids: readonly string[], all: readonly SourceProgress[]): void {
    const uploads = this.#view.uploads.map((upload) => {
      const progress = all[ids.indexOf(upload.id)];
      if (!progress) return upload;
      if (progress.phase !== "uploading") return { ...upload, progress, begun: null };
      return { ...upload, progress, begun: upload.begun ?? { at: this.#now(), progress: progress.progress } };
    });
    this.#show({ uploads });
  }

  #show(change: Partial<UploadsView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}

export function isOver({ progress }: Upload): boolean {
  return progress.phase === "failed" || (progress.phase === "processing" && progress.progress === 1);
}

/** The time that the rest takes at the speed so far; null while that is unknown. */
export function secondsLeft({ progress, begun }: Upload, now: number): number | null {
  if (progress.phase !== "uploading" || begun === null) return null;
  const done = progress.progress - begun.progress;
  if (done <= 0) return null;
  return ((1 - progress.progress) / done) * ((now - begun.at) / 1000);
}
