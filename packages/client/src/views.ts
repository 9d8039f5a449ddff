import type { TimeStep, TotalViews, Viewership, ViewsNow } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Whose current viewers to count. */
export interface ViewsNowOptions extends CallOptions {
  readonly playbackId?: string | undefined;
  readonly creatorId?: string | undefined;
  /** One element for each value of these; one in all without it. */
  readonly breakdownBy?: readonly ("playbackId" | "creatorId" | "deviceType" | "os" | "browser" | "country")[];
}

/** Whose views to count, and over which time. */
export interface ViewsOptions extends ViewsNowOptions {
  readonly streamId?: string | undefined;
  readonly assetId?: string | undefined;
  /** Milliseconds since the epoch; down to its hour. */
  readonly from?: number | undefined;
  /** Milliseconds since the epoch, exclusive; now when not given. */
  readonly to?: number | undefined;
  /** One element for each step that had viewers; one in all without it. */
  readonly timeStep?: TimeStep | undefined;
}

/** Viewers now and over time: `/api/data/views`. */
export class Views {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Current viewers. */
  now({ signal, breakdownBy, ...about }: ViewsNowOptions = {}): Promise<ViewsNow[]> {
    return call(this.#transport, "GET /api/data/views/now", {
      signal,
      query: { ...about, breakdownBy: breakdownBy?.join(",") },
    });
  }

  /** Views and watch time over a range. */
  query({ signal, breakdownBy, ...about }: ViewsOptions = {}): Promise<Viewership[]> {
    return call(this.#transport, "GET /api/data/views/query", {
      signal,
      query: { ...about, breakdownBy: breakdownBy?.join(",") },
    });
  }

  /** All views of a playback id. Needs no key. */
  total(playbackId: string, options: CallOptions = {}): Promise<TotalViews> {
    return call(this.#transport, "GET /api/data/views/query/total/:id", { ...options, params: { id: playbackId } });
  }
}
