import { EVENT_KINDS, type EventKind } from "../events/event-kinds.ts";
import { textOf } from "./stream-search.ts";

/** What of a stream's page stands in the address: the tab, and what is chosen in it. */
export interface StreamPageSearch {
  /** `overview` where not given. */
  readonly tab?: Exclude<StreamTab, "overview">;
  readonly cursor?: string;
  /** Id of the session whose recording is open. */
  readonly play?: string;
  /** Which events the log shows; `notable` where not given. */
  readonly show?: Exclude<EventKind, "notable">;
  /** Where the log begins, in milliseconds since the epoch; live where not given. */
  readonly at?: number;
}

export const STREAM_TABS = ["overview", "health", "sessions", "multistream", "access", "events"] as const;
export type StreamTab = (typeof STREAM_TABS)[number];

/** Reads an address; whatever it does not know is left out. */
export function streamPageSearch(search: Record<string, unknown>): StreamPageSearch {
  const tab = STREAM_TABS.find((known) => known === search.tab);
  const cursor = textOf(search.cursor);
  const play = textOf(search.play);
  const show = EVENT_KINDS.find((known) => known === search.show);
  const at = Number(search.at);
  return {
    ...(tab && tab !== "overview" && { tab }),
    ...(cursor && { cursor }),
    ...(play && { play }),
    ...(show && show !== "notable" && { show }),
    ...(Number.isSafeInteger(at) && at > 0 && { at }),
  };
}
