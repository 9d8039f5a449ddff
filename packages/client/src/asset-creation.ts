import type { Asset, NewAsset } from "@weir/contract";
import type { Assets } from "./assets.ts";
import { PauseSwitch } from "./pause-switch.ts";
import type { CallOptions, ClientOptions } from "./transport.ts";
import { uploadFile } from "./upload-file.ts";
import { wait } from "./wait.ts";
import { WeirError } from "./weir-error.ts";

/** One file that becomes one asset. */
export interface AssetFile extends NewAsset {
  /** A `File` of a page, or any `Blob`: in Node `fs.openAsBlob(path)`. */
  readonly file: Blob;
}

/** Where one source is. `uploading` and `processing` carry a fraction from 0 to 1. */
export type SourceProgress =
  | { readonly phase: "waiting" }
  | { readonly phase: "uploading" | "processing"; readonly progress: number }
  | { readonly phase: "failed"; readonly error: Error };

/** The memory of interrupted uploads; a page's `localStorage` is one. */
export interface UploadMemory {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** How files are uploaded, and who hears of it. */
export interface CreateAssetOptions extends CallOptions {
  /** Told at every change, with the progress of all sources in their order. */
  readonly onProgress?: ((progress: readonly SourceProgress[]) => void) | undefined;
  /** Sources that are uploaded at a time; 3 when not given. */
  readonly uploadsAtOnce?: number | undefined;
  /** Where uploads are remembered, so that the same files go on after a reload; `localStorage` when not given. Null remembers nothing. */
  readonly memory?: UploadMemory | null | undefined;
}

interface Deps {
  readonly assets: Assets;
  readonly client: ClientOptions;
}

/** An upload that the server has begun with. */
interface Remembered {
  readonly assetId: string;
  readonly endpoint: string;
  readonly address?: string;
}

const UPLOADS_AT_ONCE = 3;
const LOOK_MS = 1_000;

/** Files on their way to be assets. */
export class AssetCreation {
  /** The assets in the order of the sources, when all are ready. Rejects with the first failure when all are ready or failed. */
  readonly assets: Promise<readonly Asset[]>;
  readonly #pause = new PauseSwitch();
  readonly #deps: Deps;
  readonly #options: CreateAssetOptions;
  readonly #progress: SourceProgress[];

  constructor(deps: Deps, sources: readonly AssetFile[], options: CreateAssetOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#progress = sources.map(() => ({ phase: "waiting" }));
    this.assets = this.#createAll(sources);
    // Callers may look at the progress alone.
    this.assets.catch(() => {});
  }

  /** Of each source, in their order. */
  get progress(): readonly SourceProgress[] {
    return [...this.#progress];
  }

  get isPaused(): boolean {
    return this.#pause.isPaused;
  }

  /** Hold the uploads. Processing on the server goes on. */
  pause(): void {
    this.#pause.pause();
  }

  /** Let the uploads go on. */
  resume(): void {
    this.#pause.resume();
  }

  async #createAll(sources: readonly AssetFile[]): Promise<readonly Asset[]> {
    const waiting = [...sources.entries()].values();
    const processing: Promise<Asset>[] = [];
    const places = Math.max(1, this.#options.uploadsAtOnce ?? UPLOADS_AT_ONCE);
    // A place is free again when the file is there: the next one is not held up by processing.
    await Promise.all(
      Array.from({ length: places }, async () => {
        for (const [index, source] of waiting) {
          const { file, ...fields } = source;
          const memory = new Memory(this.#options.memory, keyOf(this.#deps.client.baseUrl, fields.name, file));
          const uploaded = this.#upload(index, fields, file, memory);
          processing[index] = this.#following(index, memory, async () => this.#processed(index, await uploaded));
          // Looked at in the end, with all the others.
          processing[index].catch(() => {});
          await uploaded.catch(() => {});
        }
      }),
    );
    await Promise.allSettled(processing);
    return Promise.all(processing);
  }

  /** Bring the file to the server; the id of its asset. */
  async #upload(index: number, fields: NewAsset, file: Blob, memory: Memory): Promise<string> {
    const { signal } = this.#options;
    await this.#pause.whilePaused(signal);
    const remembered = await this.#remembered(memory, signal);
    if (remembered?.hasArrived) return remembered.assetId;
    const { assetId, endpoint, address } = remembered ?? (await this.#request(fields));
    memory.keep({ assetId, endpoint, ...(address === undefined ? {} : { address }) });
    this.#tell(index, { phase: "uploading", progress: 0 });
    await uploadFile({
      endpoint,
      file,
      address,
      signal,
      pause: this.#pause,
      fetch: this.#deps.client.fetch,
      onAddress: (given) => memory.keep({ assetId, endpoint, address: given }),
      onProgress: (progress) => this.#tell(index, { phase: "uploading", progress }),
    });
    return assetId;
  }

  /** An upload of the same file to this server that was interrupted, if it can go on. */
  async #remembered(
    memory: Memory,
    signal: AbortSignal | undefined,
  ): Promise<(Remembered & { readonly hasArrived: boolean }) | null> {
    const upload = memory.read();
    if (!upload) return null;
    const asset = await this.#deps.assets.get(upload.assetId, { signal }).catch((error: unknown) => {
      if (error instanceof WeirError && error.status === 404) return null;
      throw error;
    });
    if (!asset || asset.status.phase === "failed") return null;
    return { ...upload, hasArrived: asset.status.phase !== "uploading" };
  }

  async #request(fields: NewAsset): Promise<Remembered> {
    const { asset, tusEndpoint } = await this.#deps.assets.requestUpload(fields, { signal: this.#options.signal });
    return { assetId: asset.id, endpoint: tusEndpoint };
  }

  async #processed(index: number, assetId: string): Promise<Asset> {
    const { signal } = this.#options;
    let progress = 0;
    for (;;) {
      this.#tell(index, { phase: "processing", progress });
      const asset = await this.#look(assetId);
      const { phase, errorMessage = "the asset failed" } = asset?.status ?? {};
      if (phase === "failed") throw new WeirError(422, [errorMessage], { code: "asset-failed" });
      progress = Math.max(progress, phase === "processing" ? (asset?.status.progress ?? 0) : 0);
      if (asset && phase === "ready") {
        this.#tell(index, { phase: "processing", progress: 1 });
        return asset;
      }
      await wait(LOOK_MS, signal);
    }
  }

  /** Null where the server does not answer at the moment. */
  async #look(assetId: string): Promise<Asset | null> {
    try {
      return await this.#deps.assets.get(assetId, { signal: this.#options.signal });
    } catch (error) {
      const isTemporary =
        error instanceof WeirError && (error.status === 0 || error.status === 429 || error.status >= 500);
      if (isTemporary) return null;
      throw error;
    }
  }

  /** Remembered until it is ready or has failed; one that was only left goes on. */
  async #following(index: number, memory: Memory, work: () => Promise<Asset>): Promise<Asset> {
    try {
      const asset = await work();
      memory.forget();
      return asset;
    } catch (error) {
      if (!this.#options.signal?.aborted) memory.forget();
      this.#tell(index, { phase: "failed", error: error instanceof Error ? error : new Error(String(error)) });
      throw error;
    }
  }

  #tell(index: number, progress: SourceProgress): void {
    this.#progress[index] = progress;
    this.#options.onProgress?.(this.progress);
  }
}

/** A file has no id: what a page may know of it has to do. */
function keyOf(baseUrl: string, name: string, file: Blob): string {
  const { name: fileName = "", lastModified = 0 } = file as Blob & { name?: string; lastModified?: number };
  return `weir-upload ${JSON.stringify([baseUrl, name, fileName, file.size, file.type, lastModified])}`;
}

/** One entry of the memory. Pages may be denied theirs, and it may be full: then nothing is remembered. */
class Memory {
  readonly #key: string;
  readonly #memory: UploadMemory | null;

  constructor(memory: UploadMemory | null | undefined, key: string) {
    this.#key = key;
    this.#memory = memory === undefined ? localMemory() : memory;
  }

  /** Null where there is nothing that makes sense. */
  read(): Remembered | null {
    try {
      const kept = JSON.parse(this.#memory?.getItem(this.#key) ?? "null") as Partial<Remembered> | null;
      return typeof kept?.assetId === "string" && typeof kept.endpoint === "string" ? (kept as Remembered) : null;
    } catch {
      return null;
    }
  }

  /** In place of what was kept before. */
  keep(upload: Remembered): void {
    try {
      this.#memory?.setItem(this.#key, JSON.stringify(upload));
    } catch {}
  }

  /** Nothing is left of it. */
  forget(): void {
    try {
      this.#memory?.removeItem(this.#key);
    } catch {}
  }
}

function localMemory(): UploadMemory | null {
  try {
    return (globalThis as { localStorage?: UploadMemory }).localStorage ?? null;
  } catch {
    return null;
  }
}
