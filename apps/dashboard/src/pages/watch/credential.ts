/** The credential of a viewer: a signed token or an access key. */
export interface Credential {
  readonly name: "jwt" | "accessKey";
  readonly value: string;
}

const NAMES = ["jwt", "accessKey"] as const;

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
    const value = values[name];
    if (typeof value === "string" && value !== "") return { name, value };
  }
  return null;
}

/** The playlist of a playback id, with the credential in its query. */
export function playlistAddress(playbackId: string, credential: Credential | null): string {
  return addressOf(`/hls/${encodeURIComponent(playbackId)}/index.m3u8`, [], credential);
}

/** A picture of the video at the size of a page, with the credential in its query. */
export function posterAddress(path: string, credential: Credential | null): string {
  return addressOf(path, [["width", "1280"]], credential);
}

function addressOf(path: string, query: readonly [string, string][], credential: Credential | null): string {
  const all = new URLSearchParams([
    ...query,
    ...(credential ? [[credential.name, credential.value]] : []),
  ] as string[][]);
  return all.size > 0 ? `${path}?${all}` : path;
}
