import type { LabelledCounter } from "../platform/metrics/metrics.ts";
import {
  Outbound,
  type OutboundAnswer,
  type OutboundBody,
  type OutboundPost,
  type OutboundRequest,
  type OutboundSettings,
} from "../platform/outbound/outbound.ts";
import type { Tracing } from "../platform/telemetry/tracing.ts";

/** The way to customers' addresses, counted and traced; of an address nothing is told. */
export class ObservedOutbound extends Outbound {
  readonly #calls: LabelledCounter;
  readonly #tracing: Tracing;

  constructor(settings: OutboundSettings, calls: LabelledCounter, tracing: Tracing) {
    super(settings);
    this.#calls = calls;
    this.#tracing = tracing;
  }

  override async post(request: OutboundPost): Promise<OutboundAnswer> {
    const answer = await this.#tracing.step("outbound.post", {}, () => super.post(request));
    this.#calls.add([answer.ok ? `${Math.floor(answer.status / 100)}xx` : answer.reason]);
    return answer;
  }

  override async send(request: OutboundRequest): Promise<OutboundBody> {
    const answer = await this.#tracing.step("outbound.send", {}, () => super.send(request));
    this.#calls.add([answer.ok ? `${Math.floor(answer.status / 100)}xx` : answer.reason]);
    return answer;
  }
}
