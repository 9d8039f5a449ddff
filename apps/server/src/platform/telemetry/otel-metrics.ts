import { type HrTime, ValueType } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { Clock } from "../clock.ts";
import type { Metrics } from "../metrics/metrics.ts";

type Family = Awaited<ReturnType<Metrics["values"]>>[number];
interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

/** The same metrics that Prometheus reads, for a collector. */
export class OtelMetricProducer implements MetricProducer {
  readonly #metrics: Metrics;
  readonly #resource: Resource;
  readonly #clock: Clock;
  readonly #startTime: HrTime;

  constructor(metrics: Metrics, resource: Resource, clock: Clock) {
    this.#metrics = metrics;
    this.#resource = resource;
    this.#clock = clock;
    this.#startTime = hrTime(clock.now());
  }

  async collect() {
    const endTime = hrTime(this.#clock.now());
    const families = await this.#metrics.values();
    const metrics = families.map((family) => metricOf(family, this.#startTime, endTime));
    const scopeMetrics = [{ scope: { name: "weir" }, metrics }];
    return { resourceMetrics: { resource: this.#resource, scopeMetrics }, errors: [] };
  }
}

function metricOf(family: Family, startTime: HrTime, endTime: HrTime): MetricData {
  const samples: readonly Sample[] = family.values;
  const base = {
    descriptor: { name: family.name, description: family.help, unit: unitOf(family.name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const times = { startTime, endTime };
  if (String(family.type) === "histogram") return { ...base, ...histogramOf(family.name, samples, times) };
  const dataPoints = samples.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }));
  if (String(family.type) !== "counter") return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
  return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

/** Prometheus counts values up to a bound; OpenTelemetry counts values between two bounds. */
function histogramOf(
  name: string,
  samples: readonly Sample[],
  times: { readonly startTime: HrTime; readonly endTime: HrTime },
): Pick<HistogramMetricData, "dataPointType" | "dataPoints"> {
  const buckets = samples.filter(({ metricName }) => metricName === `${name}_bucket`);
  const read = (suffix: string) => samples.find(({ metricName }) => metricName === `${name}_${suffix}`)?.value ?? 0;
  const boundaries = buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite);
  const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
  const value = { buckets: { boundaries, counts }, sum: read("sum"), count: read("count") };
  return { dataPointType: DataPointType.HISTOGRAM, dataPoints: [{ ...times, attributes: {}, value }] };
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return "s";
  return /_bytes(_total)?$/.test(name) ? "By" : "1";
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
