import { Button, NativeSelect, TextInput } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { StreamEvent } from "@weir/contract";
import { type FormEvent, type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { absoluteMoment } from "../../shared/lib/moments.ts";
import { strings } from "../../shared/strings.ts";
import { MAX_KEPT } from "./event-feed.ts";
import { linesOf } from "./event-filter.ts";
import { EVENT_KINDS, type EventKind } from "./event-kinds.ts";
import { eventRangeQuery, useStreamEvents } from "./event-queries.tsx";
import { EventRow } from "./event-row.tsx";
import classes from "./events-tab.module.css";

const text = strings.events;
const RANGE_MS = 10 * 60_000;
/** More are drawn when they are asked for. */
const ROWS = 150;
const timeZone = new Intl.DateTimeFormat("en").resolvedOptions().timeZone;

export interface EventSearch {
  readonly show?: Exclude<EventKind, "notable">;
  /** The begin of the log, in milliseconds since the epoch. Without it the log is live. */
  readonly at?: number;
}

interface Props {
  readonly streamId: string;
  readonly search: EventSearch;
  readonly onSearch: (search: EventSearch) => void;
}

/** The log of a stream: live, or from a chosen moment on. */
export function EventsTab({ streamId, search, onSearch }: Props) {
  const { show = "notable", at } = search;
  const [words, setWords] = useState("");
  const jump = (moment: number | null): void =>
    onSearch({ ...(search.show && { show: search.show }), ...(moment !== null && { at: moment }) });
  const filters = (
    <Filters
      kind={show}
      words={words}
      at={at}
      onKind={(kind) => onSearch({ ...(at !== undefined && { at }), ...(kind !== "notable" && { show: kind }) })}
      onWords={setWords}
      onJump={jump}
    />
  );
  const wanted: Omit<LogProps, "onJump"> = { kind: show, words, filters };
  return at === undefined ? (
    <LiveLog {...wanted} onJump={jump} />
  ) : (
    <PastLog {...wanted} streamId={streamId} from={at} onJump={jump} />
  );
}

interface LogProps {
  readonly kind: EventKind;
  readonly words: string;
  readonly filters: ReactNode;
  readonly onJump: (at: number | null) => void;
}

function LiveLog({ kind, words, filters, onJump }: LogProps) {
  const feed = useStreamEvents();
  const [held, setHeld] = useState<readonly StreamEvent[] | null>(null);
  const events = held ?? feed.events;
  const newest = held?.at(-1)?.id;
  const waiting = held
    ? linesOf(feed.events.slice(feed.events.findIndex(({ id }) => id === newest) + 1), kind, words)
    : [];
  const oldest = events[0];
  return (
    <div className={classes.tab}>
      <div className={classes.bar}>
        {filters}
        <Button
          variant="default"
          leftSection={held ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
          onClick={() => setHeld(held ? null : feed.events)}
        >
          {held ? text.resume : text.pause}
        </Button>
      </div>
      <QueryProblem error={feed.error} />
      <p className="quiet" role="status">
        {!feed.isConnected ? text.connecting : held ? text.waiting(waiting.length) : text.following(timeZone)}
      </p>
      {feed.hasGap && <Note tone="warning">{text.gap}</Note>}
      <Log events={events} kind={kind} words={words} none={text.noneYet} />
      {oldest && (
        <div className={page.actions}>
          <Button variant="default" onClick={() => onJump(oldest.timestamp - RANGE_MS)}>
            {text.earlier}
          </Button>
        </div>
      )}
    </div>
  );
}

function PastLog({
  streamId,
  from,
  kind,
  words,
  filters,
  onJump,
}: LogProps & { readonly streamId: string; readonly from: number }) {
  const to = from + RANGE_MS;
  const range = useQuery(eventRangeQuery(streamId, from, to));
  return (
    <div className={classes.tab}>
      <div className={classes.bar}>{filters}</div>
      <QueryProblem error={range.error} />
      <p className="quiet">{text.range(absoluteMoment(from), absoluteMoment(Math.min(to, Date.now())))}</p>
      {range.data ? (
        <Log events={range.data} kind={kind} words={words} none={text.none} />
      ) : (
        range.isPending && <p className="quiet">{strings.app.loading}</p>
      )}
      <div className={page.actions}>
        <Button variant="default" onClick={() => onJump(from - RANGE_MS)}>
          {text.earlier}
        </Button>
        <Button variant="default" disabled={to > Date.now()} onClick={() => onJump(to)}>
          {text.later}
        </Button>
        <Button variant="default" onClick={() => onJump(null)}>
          {text.live}
        </Button>
      </div>
    </div>
  );
}

interface ListProps {
  readonly events: readonly StreamEvent[];
  readonly kind: EventKind;
  readonly words: string;
  readonly none: string;
}

function Log({ events, kind, words, none }: ListProps) {
  const wanted = useDeferredValue(words);
  const lines = useMemo(() => linesOf(events, kind, wanted), [events, kind, wanted]);
  const [shown, setShown] = useState(ROWS);
  const hidden = Math.max(0, lines.length - shown);
  return (
    <>
      <div className={classes.log}>
        {lines.slice(0, shown).map((line) => (
          <EventRow key={line.first.id} {...line} />
        ))}
        {lines.length === 0 && (
          <p className={classes.none}>{events.length === 0 ? none : text.noMatch(events.length)}</p>
        )}
      </div>
      {hidden > 0 && (
        <div className={page.actions}>
          <Button variant="default" onClick={() => setShown(shown + ROWS)}>
            {text.more(Math.min(hidden, ROWS))}
          </Button>
        </div>
      )}
      {events.length >= MAX_KEPT && <p className="quiet">{text.kept(MAX_KEPT)}</p>}
    </>
  );
}

interface FilterProps {
  readonly kind: EventKind;
  readonly words: string;
  readonly at: number | undefined;
  readonly onKind: (kind: EventKind) => void;
  readonly onWords: (words: string) => void;
  readonly onJump: (at: number) => void;
}

function Filters({ kind, words, at, onKind, onWords, onJump }: FilterProps) {
  return (
    <>
      <NativeSelect
        aria-label={text.kinds.label}
        value={kind}
        data={EVENT_KINDS.map((value) => ({ value, label: text.kinds[value] }))}
        onChange={(event) => onKind(event.currentTarget.value as EventKind)}
      />
      <TextInput
        type="search"
        aria-label={text.search}
        placeholder={text.search}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={words}
        onChange={(event) => onWords(event.currentTarget.value)}
      />
      <JumpForm key={at} at={at} onJump={onJump} />
    </>
  );
}

function JumpForm({ at, onJump }: Pick<FilterProps, "at" | "onJump">) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const moment = new Date(String(new FormData(event.currentTarget).get("at"))).getTime();
    if (moment > 0) onJump(moment);
  };
  return (
    <form className={classes.jump} onSubmit={submit}>
      <TextInput
        type="datetime-local"
        step={1}
        name="at"
        required
        aria-label={text.jumpTo}
        title={text.jumpHint}
        defaultValue={localInput(at ?? Date.now() - RANGE_MS)}
      />
      <Button type="submit" variant="default">
        {text.jump}
      </Button>
    </form>
  );
}

/** A moment as the browser's own input for one wants it: in local time, without a zone. */
function localInput(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, "2026-11-21T09:00:00".length);
}
