import type {
  Asset,
  AssetPatch,
  ListFilter,
  NewAsset,
  NewAssetFromUrl,
  NewExport,
  NewTranscode,
  RequestedImport,
  RequestedUpload,
  Task,
} from "@weir/contract";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import { eachOf, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Filters for listing assets. */
export interface AssetListOptions extends ListOptions {
  /** Only assets whose name contains this text, in any case. */
  readonly name?: string | undefined;
  /** Only assets in this phase; `deleting` for deleted assets that can be restored. */
  readonly phase?: Asset["status"]["phase"] | undefined;
  /** A field of the asset; by default, the asset changed last comes first. */
  readonly orderBy?: { readonly field: string; readonly descending: boolean } | undefined;
}

/** Assets of the key's project: `/api/asset`. `createAsset` of the client uploads files. */
export class Assets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Create an asset and get its upload URLs, which need no API key. */
  requestUpload(asset: NewAsset, options: CallOptions = {}): Promise<RequestedUpload> {
    return call(this.#transport, "POST /api/asset/request-upload", { ...options, body: asset });
  }

  /** Create an asset from a file that the server downloads. Throws WeirError 400 for an address that Weir must not call. */
  import(asset: NewAssetFromUrl, options: CallOptions = {}): Promise<RequestedImport> {
    return call(this.#transport, "POST /api/asset/upload/url", { ...options, body: asset });
  }

  /** Get an asset. Throws WeirError 404 for an unknown or deleted one. */
  get(id: string, options: CallOptions = {}): Promise<Asset> {
    return call(this.#transport, "GET /api/asset/:id", { ...options, params: { id } });
  }

  /** One page, the asset changed last first. */
  list({ limit, cursor, orderBy, name, phase, ...options }: AssetListOptions = {}): Promise<Page<Asset>> {
    const filters: ListFilter[] = name ? [{ id: "name", value: name }] : [];
    return fetchPage(this.#transport, "GET /api/asset", {
      ...options,
      query: {
        limit,
        cursor,
        phase,
        order: orderBy && `${orderBy.field}-${orderBy.descending}`,
        filters: filters.length > 0 ? JSON.stringify(filters) : undefined,
      },
    });
  }

  /** Every asset, page after page. */
  each(options: AssetListOptions = {}): AsyncGenerator<Asset, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Change the given fields; the rest stays. Throws WeirError 422 for a policy change that is not allowed, or not yet. */
  patch(id: string, changes: AssetPatch, options: CallOptions = {}): Promise<Asset> {
    return call(this.#transport, "PATCH /api/asset/:id", { ...options, params: { id }, body: changes });
  }

  /** Delete an asset. It stops playing at once, and can be restored for a week. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/asset/:id", { ...options, params: { id } });
  }

  /** Restore a deleted asset. Throws WeirError 404 when its files are gone. */
  restore(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "POST /api/asset/:id/restore", { ...options, params: { id } });
  }

  /** Retry the processing of a failed asset. */
  async retry(id: string, options: CallOptions = {}): Promise<void> {
    await call(this.#transport, "POST /api/asset/:id/retry", { ...options, params: { id } });
  }

  /** Send the file of a ready asset to an address of yours. Resolves when it is queued; get the task until its phase is `completed` or `failed`. */
  async export(id: string, to: NewExport, options: CallOptions = {}): Promise<Task> {
    return (await call(this.#transport, "POST /api/asset/:id/export", { ...options, params: { id }, body: to })).task;
  }

  /** Transcode a file into a bucket of yours. Resolves when it is queued; get it from `tasks` until its phase is `completed` or `failed`. */
  transcode(request: NewTranscode, options: CallOptions = {}): Promise<Task> {
    return call(this.#transport, "POST /api/transcode", { ...options, body: request });
  }
}
