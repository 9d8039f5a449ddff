import type { AccessTrial, AccessTrialResult, OwnerToken } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Access decisions: `/api/access-control`. Signing keys are `signingKeys`. */
export class AccessControl {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Ask whether a viewer with this token or access key would be admitted, and why. Admits nobody. */
  try(trial: AccessTrial, options: CallOptions = {}): Promise<AccessTrialResult> {
    return call(this.#transport, "POST /api/access-control/try", { ...options, body: trial });
  }

  /** Get a token that plays one of the project's streams or recordings for an hour, under any policy. Throws WeirError 404. */
  ownerToken(playbackId: string, options: CallOptions = {}): Promise<OwnerToken> {
    return call(this.#transport, "POST /api/access-control/owner-token", { ...options, body: { playbackId } });
  }
}
