import type { Refusal } from "../front/admission.ts";
import type { MediaRequest } from "../http/media-request.ts";
import { PERSONAL, sendText } from "../http/media-response.ts";
import { DENIED, sendRefusal } from "../http/refusals.ts";
import { type HlsAddress, isPlaylist } from "./hls-addresses.ts";

export const PLAYLIST_TYPE = "application/vnd.apple.mpegurl";

/** A refusal; where players expect a playlist, as one. */
export function sendHlsRefusal(asked: MediaRequest<HlsAddress>, refusal: Refusal): void {
  const isDenied = refusal === "denied" || (refusal === "gone" && asked.isQuestion);
  if (isDenied && isPlaylist(asked.address))
    sendText(asked.res, 401, PLAYLIST_TYPE, errorPlaylist(DENIED), PERSONAL.error);
  else sendRefusal(asked, refusal);
}

/** Nobody broadcasts. */
export function sendOffline(asked: MediaRequest): void {
  if (asked.isQuestion) asked.grant();
  else sendText(asked.res, 200, PLAYLIST_TYPE, errorPlaylist("Stream is offline"), asked.caching.error);
}

const errorPlaylist = (phrase: string): string => `#EXTM3U\n#EXT-X-ERROR: ${phrase}\n#EXT-X-ENDLIST\n`;
