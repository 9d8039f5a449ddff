/** What a call to the server ends with when it does not succeed. */
export class WeirError extends Error {
  override readonly name = "WeirError";
  /** HTTP status of the answer; 0 when there was no answer. */
  readonly status: number;
  /** The server's sentences, one per error; readable as they stand. */
  readonly errors: readonly string[];

  constructor(status: number, errors: readonly string[], options?: ErrorOptions) {
    super(errors.join("; "), options);
    this.status = status;
    this.errors = errors;
  }
}

/** Turns an answer that is not 2xx into a WeirError. Reads the body `{ "errors": [...] }`, and copes with any other. */
export async function errorOf(request: string, response: Response): Promise<WeirError> {
  const sentences = sentencesIn(await response.json().catch(() => null));
  return new WeirError(
    response.status,
    sentences.length > 0 ? sentences : [`${request} was answered ${response.status} ${response.statusText}`.trimEnd()],
  );
}

function sentencesIn(body: unknown): string[] {
  if (typeof body !== "object" || body === null || !("errors" in body) || !Array.isArray(body.errors)) return [];
  return body.errors.filter((entry) => typeof entry === "string").map(readable);
}

/** A failed validation comes as an Ajv error object in JSON text; everything else is a sentence already. */
function readable(entry: string): string {
  if (!entry.startsWith("{")) return entry;
  try {
    const { instancePath = "", message, params } = JSON.parse(entry);
    if (typeof message !== "string") return entry;
    const field = String(instancePath).slice(1).replaceAll("/", ".") || "body";
    const extra = params?.additionalProperty ? ` (${params.additionalProperty})` : "";
    return `${field} ${message}${extra}`;
  } catch {
    return entry;
  }
}
