import type { StreamEvent } from "@weir/contract";
import type { EventKind } from "./event-kinds.ts";
import { type EventLevel, type EventLine, lineOf } from "./event-line.ts";

export interface LoggedEvent extends EventLine {
  readonly event: StreamEvent;
}

/**
 * The events that are asked for as lines, newest first. `words` is looked for in the sentence, the type and the id. Segments that fail
 * alike one after the other, which may go on for hours, are news once; only `all` has each.
 */
export function linesOf(events: readonly StreamEvent[], kind: EventKind, words: string): LoggedEvent[] {
  const wanted = words.trim().toLowerCase();
  const lines: LoggedEvent[] = [];
  let trouble: string | null = null;
  for (const event of events) {
    const { level, sentence } = lineOf(event);
    const before: string | null = trouble;
    if (event.type === "transcode" || event.type === "stream_state") trouble = troubleOf(event, level);
    const isRepeated = event.type === "transcode" && trouble !== null && trouble === before;
    if (kind !== "all" && (isRepeated || level === "detail" || (kind === "fatal" && level !== "fatal"))) continue;
    if (`${sentence} ${event.type} ${event.id}`.toLowerCase().includes(wanted)) lines.push({ level, sentence, event });
  }
  return lines.reverse();
}

/** The transcoder's problem according to an event; null where there is none. */
function troubleOf(event: StreamEvent, level: EventLevel): string | null {
  if (event.type !== "transcode" || level === "detail") return null;
  return `${level} ${event.attempts.findLast(({ error }) => error !== null)?.error ?? ""}`;
}
