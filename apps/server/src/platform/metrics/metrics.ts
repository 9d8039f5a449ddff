import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Label values come from a fixed set, never from a stranger's words. If one slips through, values beyond this limit become `other`. */
const MAX_SERIES = 300;

/** A counter with labels, in the order in which they were named. */
export interface LabelledCounter {
  add(labels: readonly string[], by?: number): void;
}

/** A distribution of observed values. */
export interface Distribution {
  observe(value: number): void;
}

/**
 * The counters and gauges of this process, for Prometheus and OpenTelemetry alike. A figure that changes often is a plain number, read on
 * demand: `gauge` and `total` take a function.
 */
export class Metrics {
  readonly #registry = new Registry();

  /** `labels`: of all series. */
  constructor(labels: Readonly<Record<string, string>> = {}) {
    this.#registry.setDefaultLabels(labels);
  }

  /** A value that goes up and down. */
  gauge(name: string, help: string, read: () => number): void {
    this.gauges(name, help, null, () => ({ "": read() }));
  }

  /** A gauge per value of one label, read on demand. */
  gauges(name: string, help: string, label: string | null, read: () => Readonly<Record<string, number>>): void {
    const labelNames = label === null ? [] : [label];
    const collect = () => {
      gauge.reset();
      for (const [value, count] of Object.entries(read())) gauge.set(label === null ? {} : { [label]: value }, count);
    };
    const gauge = new Gauge({ name, help, labelNames, registers: [this.#registry], collect });
  }

  /** A number that only grows while the process lives. By convention its name ends with `_total`. */
  total(name: string, help: string, read: () => number): void {
    this.totals(name, help, null, () => ({ "": read() }));
  }

  /** Like `total`, by one label: `read` returns all its values. */
  totals(name: string, help: string, label: string | null, read: () => Readonly<Record<string, number>>): void {
    const labelNames = label === null ? [] : [label];
    const collect = () => {
      counter.reset();
      for (const [value, count] of Object.entries(read())) counter.inc(label === null ? {} : { [label]: value }, count);
    };
    const counter = new Counter({ name, help, labelNames, registers: [this.#registry], collect });
  }

  counter(name: string, help: string, labelNames: readonly string[]): LabelledCounter {
    const counter = new Counter({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
    const series = new Set<string>();
    return {
      add(labels, by = 1) {
        const key = labels.join("\0");
        if (!series.has(key) && series.size >= MAX_SERIES) counter.labels(...labels.map(() => "other")).inc(by);
        else {
          series.add(key);
          counter.labels(...labels).inc(by);
        }
      },
    };
  }

  distribution(name: string, help: string, buckets: readonly number[]): Distribution {
    return new Histogram({ name, help, buckets: [...buckets], registers: [this.#registry] });
  }

  /** All metrics, in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** All metrics, as values. */
  values(): ReturnType<Registry["getMetricsAsJSON"]> {
    return this.#registry.getMetricsAsJSON();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }
}
