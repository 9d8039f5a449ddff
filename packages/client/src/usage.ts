import type { UsageMetric } from "@weir/contract";
import { call } from "./operation.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** Selects the usage to count, and the period. */
export interface UsageOptions extends CallOptions {
  readonly creatorId?: string | undefined;
  /** Milliseconds since the epoch, rounded down to the hour. */
  readonly from?: number | undefined;
  /** Milliseconds since the epoch, exclusive; defaults to now. */
  readonly to?: number | undefined;
  /** One element for each step with any usage; without it, one in total. */
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

  /** Usage of the project, always as a list. */
  async query({ byCreator, ...options }: UsageOptions = {}): Promise<UsageMetric[]> {
    const [given, about] = callOptionsIn(options);
    const query = { ...about, breakdownBy: byCreator ? "creatorId" : undefined };
    return [await call(this.#transport, "GET /api/data/usage/query", { ...given, query })].flat();
  }
}
