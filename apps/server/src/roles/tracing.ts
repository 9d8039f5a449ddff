import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import { noTracing, type Tracing } from "../platform/telemetry/tracing.ts";
import type { Config } from "./config.ts";

/** Traces and metrics to a collector where one is set; else none of it is even loaded. */
export async function startTracing(config: Config, clock: Clock, log: Log, metrics: Metrics): Promise<Tracing> {
  const { otlpEndpoint: endpoint, region } = config;
  if (!endpoint) return noTracing;
  const { startOtel } = await import("../platform/telemetry/otel.ts");
  return startOtel({ endpoint, clock, log, metrics, attributes: { "cloud.region": region } });
}
