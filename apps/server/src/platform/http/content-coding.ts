type Compression = "br" | "gzip";

/** Content coding; `null` for none. */
export type Coding = Compression | null;

const REFUSED = /;\s*q=0(?:\.0*)?\s*$/;
const BEST_FIRST: readonly Compression[] = ["br", "gzip"];

/** The first coding of `offered` that a client accepts (RFC 9110 12.5.3). */
export function codingFor<Offered extends Compression = Compression>(
  acceptEncoding: string | undefined,
  offered = BEST_FIRST as readonly Offered[],
): Offered | null {
  let best = offered.length;
  for (const entry of acceptEncoding?.split(",") ?? []) {
    const name = entry.split(";", 1)[0]?.trim();
    const nth = offered.indexOf(name as Offered);
    if (nth >= 0 && nth < best && !REFUSED.test(entry)) best = nth;
  }
  return offered[best] ?? null;
}
