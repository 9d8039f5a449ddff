import { EVENT_KINDS, type EventKind } from "../../features/events/event-kinds.ts";
import { type SessionSearch, sessionSearch } from "../../features/sessions/session-search.ts";

/** The part of a stream's page that is in the address: the tab, and what is chosen in it. */
export interface StreamPageSearch extends Omit<SessionSearch, "streamId"> {
  /** `overview` where not given. */
  readonly tab?: Exclude<StreamTab, "overview">;
  /** The events that the log shows; `notable` by default. */
  readonly show?: Exclude<EventKind, "notable">;
  /** The begin of the log, in milliseconds since the epoch; live by default. */
  readonly at?: number;
}

export const STREAM_TABS = ["overview", "health", "viewers", "sessions", "multistream", "access", "events"] as const;
export type StreamTab = (typeof STREAM_TABS)[number];

/** Reads an address; unknown values are left out. */
export function streamPageSearch(search: Record<string, unknown>): StreamPageSearch {
  const tab = STREAM_TABS.find((known) => known === search.tab);
  const { streamId: _, ...sessions } = sessionSearch(search);
  const show = EVENT_KINDS.find((known) => known === search.show);
  const at = Number(search.at);
  return {
    ...(tab && tab !== "overview" && { tab }),
    ...sessions,
    ...(show && show !== "notable" && { show }),
    ...(Number.isSafeInteger(at) && at > 0 && { at }),
  };
}
