import type { Asset, CreatedClip, NewClip } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Clips of streams, recordings and assets: `/api/clip`. */
export class Clips {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Cut a clip. Resolves when it is queued; get the asset until its phase is `ready`. Throws WeirError 422 if there is nothing to cut. */
  create(clip: NewClip, options: CallOptions = {}): Promise<CreatedClip> {
    return call(this.#transport, "POST /api/clip", { ...options, body: clip });
  }

  /** Clips of a stream, session or asset, whichever the id or playback id belongs to, newest first. */
  list(id: string, options: CallOptions = {}): Promise<Asset[]> {
    return call(this.#transport, "GET /api/clip/:id", { ...options, params: { id } });
  }
}
