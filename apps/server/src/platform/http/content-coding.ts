/** Content coding; `null` for none. */
export type Coding = "br" | "gzip" | null;

const REFUSED = /;\s*q=0(?:\.0*)?\s*$/;

/** The best content coding that a client accepts (RFC 9110 12.5.3). */
export function codingFor(acceptEncoding: string | undefined): Coding {
  if (!acceptEncoding) return null;
  const accepted = new Set(
    acceptEncoding.split(",").flatMap((entry) => (REFUSED.test(entry) ? [] : [entry.split(";", 1)[0]?.trim()])),
  );
  return accepted.has("br") ? "br" : accepted.has("gzip") ? "gzip" : null;
}
