import type { TimeStep, TotalViews, Viewership, ViewsNow } from "@weir/contract";
import type { CallOptions, Transport } from "./transport.ts";

export interface ViewsNowOptions extends CallOptions {
  readonly playbackId?: string | undefined;
  readonly creatorId?: string | undefined;
  /** One element for each value of these; one in all without it. */
  readonly breakdownBy?: readonly ("playbackId" | "creatorId")[];
}

export interface ViewsOptions extends ViewsNowOptions {
  readonly streamId?: string | undefined;
  readonly assetId?: string | undefined;
  /** Milliseconds since the epoch; down to its hour. */
  readonly from?: number | undefined;
  /** Milliseconds since the epoch, exclusive; now when not given. */
  readonly to?: number | undefined;
  /** One element for each step in which somebody watched; one in all without it. */
  readonly timeStep?: TimeStep | undefined;
}

/** Who watches, and who did: `/api/data/views`. */
export class Views {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  now({ signal, breakdownBy, ...about }: ViewsNowOptions = {}): Promise<ViewsNow[]> {
    const query = { ...about, breakdownBy: breakdownBy?.join(",") };
    return this.#transport.json("GET", "/api/data/views/now", { signal, query });
  }

  query({ signal, breakdownBy, ...about }: ViewsOptions = {}): Promise<Viewership[]> {
    const query = { ...about, breakdownBy: breakdownBy?.join(",") };
    return this.#transport.json("GET", "/api/data/views/query", { signal, query });
  }

  /** All views of a playback id. Needs no key. */
  total(playbackId: string, call: CallOptions = {}): Promise<TotalViews> {
    return this.#transport.json("GET", `/api/data/views/query/total/${encodeURIComponent(playbackId)}`, call);
  }
}
