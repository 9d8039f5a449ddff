import { type DiagLogger, DiagLogLevel, diag } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes, serviceNameEnvDetector } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { sleep } from "../retry.ts";
import { OtelMetricProducer } from "./otel-metrics.ts";
import { OtelTracing } from "./otel-tracing.ts";
import type { Tracing } from "./tracing.ts";

const METRICS_EVERY_MS = 15_000;
const WARN_EVERY_MS = 60_000;
const LAST_EXPORT_MS = 2_000;

export interface OtelSettings {
  /** Address of the collector, without the trailing `/v1/…`. */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Send traces and metrics to a collector, over HTTP with JSON. The libraries read the rest from `OTEL_…` themselves: headers, the service's
 * name, attributes of the resource. Spans that a collector does not accept in time are dropped; at most 2,048 are kept.
 */
export function startOtel({ endpoint, clock, log, metrics, attributes }: OtelSettings): Tracing {
  diag.setLogger(warnAtTimes(clock, log), DiagLogLevel.WARN);
  const resource = resourceFromAttributes({ "service.name": "weir", ...attributes }).merge(
    detectResources({ detectors: [envDetector, serviceNameEnvDetector] }),
  );
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const traces = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter })] });
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: `${endpoint}/v1/metrics` }),
    exportIntervalMillis: METRICS_EVERY_MS,
    exportTimeoutMillis: METRICS_EVERY_MS - 1,
    metricProducers: [new OtelMetricProducer(metrics, resource, clock)],
  });
  const meters = new MeterProvider({ resource, readers: [reader] });
  const tracing = new OtelTracing(traces.getTracer("weir"));
  return {
    step: (name, attributes, action) => tracing.step(name, attributes, action),
    begin: (key, request, go) => tracing.begin(key, request, go),
    end: (key, status) => tracing.end(key, status),
    async close() {
      const sent = Promise.allSettled([traces.shutdown(), meters.shutdown()]);
      await Promise.race([sent, sleep(clock, LAST_EXPORT_MS)]);
    },
  };
}

/** An unavailable collector is logged once a minute, not at every attempt. */
function warnAtTimes(clock: Clock, log: Log): DiagLogger {
  let silentUntil = Number.NEGATIVE_INFINITY;
  const warn = (message: string): void => {
    if (clock.monotonic() < silentUntil) return;
    silentUntil = clock.monotonic() + WARN_EVERY_MS;
    log.warn({ reason: reasonOf(message) }, "traces or metrics did not reach the OpenTelemetry collector");
  };
  return { error: warn, warn, info: () => {}, debug: () => {}, verbose: () => {} };
}

/** The libraries report an error as JSON, with its stack. */
function reasonOf(message: string): string {
  return (/"message":"([^"]*)"/.exec(message)?.[1] ?? message).slice(0, 300);
}
