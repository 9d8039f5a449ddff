import type { Credential } from "@weir/player";

const NAMES = ["jwt", "accessKey"] as const;
/** The server takes no longer token or access key. */
const MAX_LENGTH = 8192;

/** The credential in the query of the page's address; null without one. */
export function credentialInQuery(search: string): Credential | null {
  const query = new URLSearchParams(search);
  return credentialIn(Object.fromEntries(NAMES.map((name) => [name, query.get(name)])));
}

/**
 * The credential in a message from the page that embeds this one, `{ type: "weir:credential", jwt }` or `accessKey`;
 * null for any other message. The message may come from any page: a credential is valid wherever it comes from.
 */
export function credentialInMessage(data: unknown): Credential | null {
  if (typeof data !== "object" || data === null) return null;
  const message = data as Record<string, unknown>;
  return message.type === "weir:credential" ? credentialIn(message) : null;
}

function credentialIn(values: Record<string, unknown>): Credential | null {
  for (const name of NAMES) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (typeof value === "string" && value !== "" && value.length <= MAX_LENGTH) return { name, value };
  }
  return null;
}
