import type { PlaybackInfo } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Playback URLs: `/api/playback`. */
export class Playback {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The playback URLs of a stream, recording or asset by its playback id. Needs no key. */
  get(playbackId: string, options: CallOptions = {}): Promise<PlaybackInfo> {
    return call(this.#transport, "GET /api/playback/:id", { ...options, params: { id: playbackId } });
  }
}
