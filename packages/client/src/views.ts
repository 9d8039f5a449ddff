import type { TimeStep, TotalViews, Viewership, ViewsNow } from "@weir/contract";
import { call } from "./operation.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** Selects whose current viewers to count. */
export interface ViewsNowOptions extends CallOptions {
  readonly playbackId?: string | undefined;
  readonly creatorId?: string | undefined;
  /** One element for each combination of these values; without it, one in total. */
  readonly breakdownBy?: readonly ("playbackId" | "creatorId" | "deviceType" | "os" | "browser" | "country")[];
}

/** Selects whose views to count, and the period. */
export interface ViewsOptions extends ViewsNowOptions {
  readonly streamId?: string | undefined;
  readonly assetId?: string | undefined;
  /** Milliseconds since the epoch, rounded down to the hour. */
  readonly from?: number | undefined;
  /** Milliseconds since the epoch, exclusive; defaults to now. */
  readonly to?: number | undefined;
  /** One element for each step with viewers; without it, one in total. */
  readonly timeStep?: TimeStep | undefined;
}

/** Viewers now and over time: `/api/data/views`. */
export class Views {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Current viewers. */
  now({ breakdownBy, ...options }: ViewsNowOptions = {}): Promise<ViewsNow[]> {
    const [given, about] = callOptionsIn(options);
    return call(this.#transport, "GET /api/data/views/now", {
      ...given,
      query: { ...about, breakdownBy: breakdownBy?.join(",") },
    });
  }

  /** Views and watch time over a range. */
  query({ breakdownBy, ...options }: ViewsOptions = {}): Promise<Viewership[]> {
    const [given, about] = callOptionsIn(options);
    return call(this.#transport, "GET /api/data/views/query", {
      ...given,
      query: { ...about, breakdownBy: breakdownBy?.join(",") },
    });
  }

  /** All views of a playback id. Needs no key. */
  total(playbackId: string, options: CallOptions = {}): Promise<TotalViews> {
    return call(this.#transport, "GET /api/data/views/query/total/:id", { ...options, params: { id: playbackId } });
  }
}
