/** The credential of a viewer: a signed token or an access key. */
export interface Credential {
  readonly name: "jwt" | "accessKey";
  readonly value: string;
}

/** The playlist of a playback id, with the credential in its query. `server` is an origin, or empty for that of the page. */
export function playlistAddress(server: string, playbackId: string, credential: Credential | null): string {
  return addressOf(`${server}/hls/${encodeURIComponent(playbackId)}/index.m3u8`, [], credential);
}

/** A picture of the video at the size of a page, with the credential in its query. */
export function posterAddress(address: string, credential: Credential | null): string {
  return addressOf(address, [["width", "1280"]], credential);
}

function addressOf(path: string, query: readonly [string, string][], credential: Credential | null): string {
  const all = new URLSearchParams([
    ...query,
    ...(credential ? [[credential.name, credential.value]] : []),
  ] as string[][]);
  return all.size > 0 ? `${path}?${all}` : path;
}
