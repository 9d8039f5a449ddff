import { ActionIcon, Button, TextInput } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { Note } from "../../shared/components/note.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { ShowAsCode } from "../../shared/components/show-as-code.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { secondsText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { ClipBar } from "./clip-bar.tsx";
import { ClipList } from "./clip-list.tsx";
import classes from "./clip-maker.module.css";
import { lengthOf, marksAfter, momentText, NO_MARKS, stepOf } from "./clip-marks.ts";
import { useCreateClip } from "./clip-queries.ts";

const text = strings.clips;
const FRAME_SECONDS = 1 / 30;

interface Props {
  /** The playback id of the stream or asset that the clip is cut from. */
  readonly playbackId: string;
  /** The session or asset whose clips are listed. */
  readonly of: string;
  readonly sessionId?: string;
  /** Shows the media that the clip is cut from; null until it does. */
  readonly video: HTMLVideoElement | null;
  readonly frameSeconds?: number;
}

/** Marks the start and the end of a clip on a video, creates it, and lists the clips that there are. */
export function ClipMaker({ playbackId, of, sessionId, video, frameSeconds = FRAME_SECONDS }: Props) {
  const [marks, setMarks] = useState(NO_MARKS);
  const [name, setName] = useState("");
  const create = useCreateClip();
  const hint = useId();
  const length = lengthOf(marks);
  const isWrongOrder = length === null && marks.start !== null && marks.end !== null;
  const { durationMs, shownMs } = useVideoTime(video);
  const positionMs = (): number => Math.round((video?.currentTime ?? 0) * 1000);
  const seek = (ms: number): void => {
    if (!video) return;
    video.pause();
    video.currentTime = Math.max(0, ms / 1000);
  };
  const step = (seconds: number): void => seek(positionMs() + seconds * 1000);
  const mark = (key: string): void => setMarks(marksAfter(key, marks, positionMs()) ?? marks);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const seconds = stepOf(event.key, event.shiftKey, frameSeconds);
    const next = marksAfter(event.key.toLowerCase(), marks, positionMs());
    if (seconds === null && next === null) return;
    event.preventDefault();
    if (seconds !== null) step(seconds);
    if (next) setMarks(next);
  };
  const wanted = {
    ...{ playbackId, startTime: marks.start ?? 0, endTime: marks.end ?? 0 },
    ...(sessionId !== undefined && { sessionId }),
    ...(name.trim() && { name: name.trim() }),
  };
  const submit = (): void => {
    if (length === null) return;
    create.mutate(wanted, {
      onSuccess: ({ asset }) => {
        toast(text.created(asset.name));
        setMarks(NO_MARKS);
        setName("");
      },
    });
  };
  return (
    <Panel title={text.title}>
      <fieldset
        className={classes.maker}
        aria-label={text.last}
        aria-describedby={hint}
        onKeyDown={onKeyDown}
        disabled={video === null}
      >
        <p id={hint} className="quiet">
          {text.hint}
        </p>
        {durationMs > 0 && (
          <ClipBar
            {...{ playbackId, durationMs, frameSeconds, marks }}
            positionMs={shownMs}
            onMarks={setMarks}
            onSeek={seek}
          />
        )}
        <div className={classes.buttons}>
          <Button variant="default" onClick={() => mark("i")}>
            {text.setStart}
          </Button>
          <ActionIcon variant="default" size="lg" aria-label={text.back} onClick={() => step(-frameSeconds)}>
            <IconChevronLeft size={18} aria-hidden />
          </ActionIcon>
          <ActionIcon variant="default" size="lg" aria-label={text.forward} onClick={() => step(frameSeconds)}>
            <IconChevronRight size={18} aria-hidden />
          </ActionIcon>
          <Button variant="default" onClick={() => mark("o")}>
            {text.setEnd}
          </Button>
          <dl className={classes.marks}>
            {[
              [text.start, marks.start === null ? text.unset : momentText(marks.start)],
              [text.end, marks.end === null ? text.unset : momentText(marks.end)],
              [text.length, length === null ? text.unset : secondsText(length)],
            ].map(([name, value]) => (
              <div key={name}>
                <dt className="quiet">{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </div>
        {isWrongOrder && <Note tone="warning">{text.order}</Note>}
        {create.error && <Note tone="failure">{create.error.message}</Note>}
        <div className={classes.create}>
          <TextInput
            label={text.name}
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button loading={create.isPending} disabled={length === null} onClick={submit}>
            {text.create}
          </Button>
        </div>
        <ShowAsCode call={(weir) => weir.clips.create(wanted)} />
      </fieldset>
      <ClipList of={of} />
    </Panel>
  );
}

/** The length of a video, 0 while it is unknown or endless, and the moment that is shown. */
function useVideoTime(video: HTMLVideoElement | null) {
  const [time, setTime] = useState({ durationMs: 0, shownMs: 0 });
  useEffect(() => {
    if (!video) return;
    const abort = new AbortController();
    const read = (): void => {
      const durationMs = Number.isFinite(video.duration) ? Math.round(video.duration * 1000) : 0;
      setTime({ durationMs, shownMs: Math.round(video.currentTime * 1000) });
    };
    read();
    for (const event of ["durationchange", "timeupdate", "seeking"])
      video.addEventListener(event, read, { signal: abort.signal });
    return () => abort.abort();
  }, [video]);
  return time;
}
