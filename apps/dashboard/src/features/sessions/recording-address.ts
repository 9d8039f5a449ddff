/** The playback id in the address of a recording's or an asset's playlist. */
export function playbackIdOf(url: string): string {
  return new URL(url, window.location.href).pathname.split("/").at(-2) ?? "";
}
