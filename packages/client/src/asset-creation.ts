import type { Asset, NewAsset } from "@weir/contract";
import type { Assets } from "./assets.ts";
import { PauseSwitch } from "./pause-switch.ts";
import type { CallOptions, ClientOptions } from "./transport.ts";
import { uploadFile } from "./upload-file.ts";
import { wait } from "./wait.ts";
import { WeirError } from "./weir-error.ts";

/** One file, which becomes one asset. */
export interface AssetFile extends NewAsset {
  /** A `File` of a page, or any `Blob`: in Node `fs.openAsBlob(path)`. */
  readonly file: Blob;
}

/** Progress of one source. `uploading` and `processing` have a fraction from 0 to 1. */
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

/** Options for uploading, and the receiver of progress. */
export interface CreateAssetOptions extends CallOptions {
  /** Called at every change, with the progress of all sources in order. */
  readonly onProgress?: ((progress: readonly SourceProgress[]) => void) | undefined;
  /** Sources uploaded at a time; default 3. */
  readonly uploadsAtOnce?: number | undefined;
  /** Storage for interrupted uploads, so that the same files continue after a reload; defaults to `localStorage`. Null stores nothing. */
  readonly memory?: UploadMemory | null | undefined;
}

interface Deps {
  readonly assets: Assets;
  readonly client: ClientOptions;
}

/** An upload that the server has accepted. */
interface Remembered {
  readonly assetId: string;
  readonly endpoint: string;
  readonly address?: string;
}

const UPLOADS_AT_ONCE = 3;
const LOOK_MS = 1_000;

/** Files that are becoming assets. */
export class AssetCreation {
  /** The assets in the order of the sources, once all are ready. When all are ready or failed, rejects with the first failure. */
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
    // Callers may ignore the promise and use only the progress.
    this.assets.catch(() => {});
  }

  /** Progress of each source, in order. */
  get progress(): readonly SourceProgress[] {
    return [...this.#progress];
  }

  get isPaused(): boolean {
    return this.#pause.isPaused;
  }

  /** Pause the uploads. Processing on the server continues. */
  pause(): void {
    this.#pause.pause();
  }

  /** Resume the uploads. */
  resume(): void {
    this.#pause.resume();
  }

  async #createAll(sources: readonly AssetFile[]): Promise<readonly Asset[]> {
    const waiting = [...sources.entries()].values();
    const processing: Promise<Asset>[] = [];
    const places = Math.max(1, this.#options.uploadsAtOnce ?? UPLOADS_AT_ONCE);
    // A slot is free again once the file has arrived, so processing does not delay the next file.
    await Promise.all(
      Array.from({ length: places }, async () => {
        for (const [index, source] of waiting) {
          const { file, ...fields } = source;
          const memory = new Memory(this.#options.memory, keyOf(this.#deps.client.baseUrl, fields.name, file));
          const uploaded = this.#upload(index, fields, file, memory);
          processing[index] = this.#following(index, memory, async () => this.#processed(index, await uploaded));
          // Handled at the end, with all the others.
          processing[index].catch(() => {});
          await uploaded.catch(() => {});
        }
      }),
    );
    await Promise.allSettled(processing);
    return Promise.all(processing);
  }

  /** Upload the file; returns the id of its asset. */
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

  /** An interrupted upload of the same file to this server, if it can continue. */
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

  /** Null if the server does not answer at the moment. */
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

  /** Remembered until the asset is ready or failed, so that an abandoned upload can continue. */
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

/** A file has no id, so its visible properties must identify it. */
function keyOf(baseUrl: string, name: string, file: Blob): string {
  const { name: fileName = "", lastModified = 0 } = file as Blob & { name?: string; lastModified?: number };
  return `weir-upload ${JSON.stringify([baseUrl, name, fileName, file.size, file.type, lastModified])}`;
}

/** One entry of the storage. A page may have no access to it, or it may be full: then nothing is remembered. */
class Memory {
  readonly #key: string;
  readonly #memory: UploadMemory | null;

  constructor(memory: UploadMemory | null | undefined, key: string) {
    this.#key = key;
    this.#memory = memory === undefined ? localMemory() : memory;
  }

  /** Null if the content makes no sense. */
  read(): Remembered | null {
    try {
      const kept = JSON.parse(this.#memory?.getItem(this.#key) ?? "null") as Partial<Remembered> | null;
      return typeof kept?.assetId === "string" && typeof kept.endpoint === "string" ? (kept as Remembered) : null;
    } catch {
      return null;
    }
  }

  /** Replaces the previous entry. */
  keep(upload: Remembered): void {
    try {
      this.#memory?.setItem(this.#key, JSON.stringify(upload));
    } catch {}
  }

  /** Removes the entry. */
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
