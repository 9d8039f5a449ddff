import { WeirBroadcast } from "./weir-broadcast.ts";

export type { BroadcastState } from "./broadcast-view.ts";
export type { CaptureProblem } from "./capture.ts";
export type { BroadcastStateChange, WeirBroadcast } from "./weir-broadcast.ts";
export type { BroadcastFigures } from "./whip-publisher.ts";

// Also where another copy of this script was faster, and not where a server renders the page.
if (globalThis.customElements && !customElements.get("weir-broadcast"))
  customElements.define("weir-broadcast", WeirBroadcast);
