import type { StreamEvent } from "@weir/contract";
import type { EventKind } from "./event-kinds.ts";
import { type EventLine, lineOf } from "./event-line.ts";

export interface LoggedEvent extends EventLine {
  readonly event: StreamEvent;
}

/** The events that are asked for as lines, newest first. `words` is looked for in the sentence, the type and the id. */
export function linesOf(events: readonly StreamEvent[], kind: EventKind, words: string): LoggedEvent[] {
  const wanted = words.trim().toLowerCase();
  return events
    .map((event) => ({ ...lineOf(event), event }))
    .filter(({ level }) => kind === "all" || (kind === "fatal" ? level === "fatal" : level !== "detail"))
    .filter(({ sentence, event }) => `${sentence} ${event.type} ${event.id}`.toLowerCase().includes(wanted))
    .reverse();
}
