import { WeirPlayer } from "./weir-player.ts";

export type { Credential } from "./addresses.ts";
export type { PlaybackFigures } from "./hls-playback.ts";
export type { StageState } from "./stage.ts";
export type { VideoInfo } from "./video-state.ts";
export type { StateChange, WeirPlayer } from "./weir-player.ts";

// Also where another copy of this script was faster, and not where a server renders the page.
if (globalThis.customElements && !customElements.get("weir-player")) customElements.define("weir-player", WeirPlayer);
