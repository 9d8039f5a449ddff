import type { StreamEvent } from "@weir/contract";
import type { EventKind } from "./event-kinds.ts";
import { type EventLine, lineOf } from "./event-line.ts";

export interface LoggedEvent extends EventLine {
  /** The newest event of the line. */
  readonly event: StreamEvent;
  /** The first event of the line; another one only where a line stands for several that are alike. */
  readonly first: StreamEvent;
  /** The number of times that it happened. */
  readonly count: number;
}

/** Events that are alike and no further apart than this are one line. */
const RUN_MS = 2 * 60_000;

/**
 * The events that are asked for as lines, newest first. `words` is looked for in the sentence, the type and the id. What happens again and again
 * is one line with a count, where its newest event is; only `all` has each event.
 */
export function linesOf(events: readonly StreamEvent[], kind: EventKind, words: string): LoggedEvent[] {
  const wanted = words.trim().toLowerCase();
  const lines = kind === "all" ? events.map(single) : notableLines(events);
  return lines
    .filter(
      ({ level, sentence, event }) =>
        (kind !== "fatal" || level === "fatal") &&
        `${sentence} ${event.type} ${event.id}`.toLowerCase().includes(wanted),
    )
    .reverse();
}

const single = (event: StreamEvent): LoggedEvent => ({ ...lineOf(event), event, first: event, count: 1 });

interface Run {
  readonly first: StreamEvent;
  last: StreamEvent;
  count: number;
  /** The lines that stand for it. */
  readonly lines: Set<StreamEvent>;
}

function notableLines(events: readonly StreamEvent[]): LoggedEvent[] {
  const lines = new Map<StreamEvent, LoggedEvent>();
  const runs = new Map<string, Run>();
  for (const event of events) {
    // Another broadcast, another story.
    if (event.type === "stream_state") runs.clear();
    const line = single(event);
    if (line.level === "detail") continue;
    const subject = subjectOf(event, line);
    const before = subject === null ? undefined : runs.get(subject);
    const isRecent = before !== undefined && event.timestamp - before.last.timestamp <= RUN_MS;
    const isEnd = event.type === "stream_issue" && event.state === "closed";
    if (subject === null || !before || (!isRecent && !isEnd)) {
      lines.set(event, line);
      if (subject !== null) runs.set(subject, { first: event, last: event, count: 1, lines: new Set([event]) });
      continue;
    }
    before.last = event;
    if (!isEnd) before.count++;
    if (before.count === 1) {
      // The first time, the problem and its end are two lines.
      lines.set(event, line);
      before.lines.add(event);
      continue;
    }
    for (const old of before.lines) lines.delete(old);
    before.lines.clear();
    before.lines.add(before.first);
    lines.set(before.first, { ...line, first: before.first, count: before.count });
  }
  return [...lines.values()];
}

/** What an event is about, where it may happen again and again; null for any other event. */
function subjectOf(event: StreamEvent, { level, sentence }: EventLine): string | null {
  switch (event.type) {
    case "transcode":
      return `${level} ${event.success} ${event.attempts.findLast(({ error }) => error !== null)?.error ?? ""}`;
    case "stream_issue":
      return event.code;
    case "webhook_event":
      return level === "warning" ? sentence : null;
    default:
      return null;
  }
}
