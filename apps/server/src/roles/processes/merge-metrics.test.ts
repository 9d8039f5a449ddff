import { expect, test } from "vitest";
import { mergeMetrics } from "./merge-metrics.ts";

const metricsOf = (process: string, more = "") =>
  `# HELP streams Streams\n# TYPE streams gauge\nstreams{process="${process}"} ${process}\n${more}`;

test("each family is named once, with the series of all processes, also one that a process alone has", () => {
  const jobs = '\n# HELP jobs Jobs\n# TYPE jobs gauge\njobs{process="1"} 7\n';
  expect(mergeMetrics([metricsOf("1", jobs), metricsOf("2")])).toBe(
    `# HELP streams Streams\n# TYPE streams gauge\nstreams{process="1"} 1\nstreams{process="2"} 2\n${jobs}`,
  );
});
