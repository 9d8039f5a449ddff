/** The metrics of several processes as one text: Prometheus takes each family once, with the series of all. */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, string[]>();
  for (const text of texts) {
    for (const family of text.split(/^(?=# HELP )/m)) {
      const lines = family.split("\n").filter((line) => line !== "");
      const head = lines.filter((line) => line.startsWith("#")).join("\n");
      if (head === "") continue;
      const series = lines.filter((line) => !line.startsWith("#"));
      families.set(head, [...(families.get(head) ?? []), ...series]);
    }
  }
  return [...families].map(([head, series]) => `${[head, ...series].join("\n")}\n`).join("\n");
}
