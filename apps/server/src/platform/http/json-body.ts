import type { IncomingHttpHeaders } from "node:http";

const DEEPEST = 32;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** A body that is not acceptable JSON. The message is for the caller; the error handler reads `statusCode`. */
export class BadJson extends Error {
  readonly statusCode = 400;
  readonly code = "bad-json";
}

/** A compressed body, which would be read as it came. */
class EncodedBody extends Error {
  readonly statusCode = 415;
  readonly code = "unsupported-encoding";

  constructor() {
    super("The body is compressed. Send it as it is, without Content-Encoding.");
  }
}

export const isEncoded = ({ "content-encoding": encoding = "identity" }: IncomingHttpHeaders): boolean =>
  encoding.toLowerCase() !== "identity";

/** Throws `EncodedBody`. */
export function refuseEncodedBody(headers: IncomingHttpHeaders): void {
  if (isEncoded(headers)) throw new EncodedBody();
}

/** The value of a JSON text. Stricter than `JSON.parse`: no `__proto__`, no duplicate key in an object, at most 32 levels. Throws `BadJson`. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadJson(`the body is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  checkStructure(text);
  return value;
}

/** One pass over the tokens of a valid JSON text. The stack holds null for an open array. */
function checkStructure(text: string): void {
  const open: (Set<string> | null)[] = [];
  let string = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      if (open.length > DEEPEST) throw new BadJson(`the body is nested deeper than ${DEEPEST} levels`);
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ":") checkKey(open.at(-1), JSON.parse(string) as string);
    else string = token;
  }
}

function checkKey(keys: Set<string> | null | undefined, key: string): void {
  if (key === "__proto__") throw new BadJson("the body has a key __proto__");
  if (keys?.has(key))
    throw new BadJson(`the body has the key ${JSON.stringify(key.slice(0, 100))} twice in one object`);
  keys?.add(key);
}
