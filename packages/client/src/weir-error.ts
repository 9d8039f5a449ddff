/** A failed call: the server refused it, or did not answer. */
export class WeirError extends Error {
  override readonly name = "WeirError";
  /** HTTP status of the response; 0 if there was none. */
  readonly status: number;
  /** The server's sentences, one per error, ready to show. */
  readonly errors: readonly string[];
  /** The kind of error, for programs: `not-found`, `too-many-requests` … Null if the response names no code. */
  readonly code: string | null;

  constructor(
    status: number,
    errors: readonly string[],
    { code = null, ...options }: ErrorOptions & { code?: string | null } = {},
  ) {
    super(errors.join("; "), options);
    this.status = status;
    this.errors = errors;
    this.code = code;
  }
}

/** Turns a non-2xx response into a WeirError. Reads the body `{ "errors": [...], "code" }`, and accepts any other. */
export async function errorOf(request: string, response: Response): Promise<WeirError> {
  const body: unknown = await response.json().catch(() => null);
  const sentences = sentencesIn(body);
  return new WeirError(
    response.status,
    sentences.length > 0 ? sentences : [`${request} was answered ${response.status} ${response.statusText}`.trimEnd()],
    { code: codeIn(body) },
  );
}

function codeIn(body: unknown): string | null {
  if (typeof body !== "object" || body === null || !("code" in body)) return null;
  return typeof body.code === "string" ? body.code : null;
}

function sentencesIn(body: unknown): string[] {
  if (typeof body !== "object" || body === null || !("errors" in body) || !Array.isArray(body.errors)) return [];
  return body.errors.filter((entry) => typeof entry === "string").map(readable);
}

/** A failed validation arrives as an Ajv error object in JSON text; every other error is already a sentence. */
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
