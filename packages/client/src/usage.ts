import type { UsageMetric } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The choice of minutes to count, and the time. */
export interface UsageOptions extends CallOptions {
  readonly creatorId?: string | undefined;
  /** Milliseconds since the epoch; down to its hour. */
  readonly from?: number | undefined;
  /** Milliseconds since the epoch, exclusive; now when not given. */
  readonly to?: number | undefined;
  /** One element for each step with any use; one in all without it. */
  readonly timeStep?: "hour" | "day" | undefined;
  /** One element for each creator. */
  readonly byCreator?: boolean;
}

/** Minutes transcoded, delivered and stored: `/api/data/usage`. */
export class Usage {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Usage of the project, a list in any case. */
  async query({ signal, byCreator, ...about }: UsageOptions = {}): Promise<UsageMetric[]> {
    const query = { ...about, breakdownBy: byCreator ? "creatorId" : undefined };
    return [await call(this.#transport, "GET /api/data/usage/query", { signal, query })].flat();
  }
}
