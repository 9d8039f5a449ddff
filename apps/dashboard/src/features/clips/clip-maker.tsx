import { ActionIcon, Button, TextInput } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { type KeyboardEvent, useId, useState } from "react";
import { Figures } from "../../components/figures.tsx";
import { Note } from "../../components/note.tsx";
import { Panel } from "../../components/panel.tsx";
import { toast } from "../../components/toasts.tsx";
import { clockText, secondsText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { ClipList } from "./clip-list.tsx";
import classes from "./clip-maker.module.css";
import { lengthOf, marksAfter, NO_MARKS, stepOf } from "./clip-marks.ts";
import { useCreateClip } from "./clip-queries.ts";

const text = strings.clips;
const FRAME_SECONDS = 1 / 30;

interface Props {
  /** Of the stream or asset that the clip is cut from. */
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
  const positionMs = (): number => Math.round((video?.currentTime ?? 0) * 1000);
  const step = (seconds: number): void => {
    if (!video) return;
    video.pause();
    video.currentTime = Math.max(0, video.currentTime + seconds);
  };
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
  const submit = (): void => {
    if (marks.start === null || marks.end === null) return;
    const clip = { playbackId, startTime: marks.start, endTime: marks.end };
    create.mutate(
      { ...clip, ...(sessionId !== undefined && { sessionId }), ...(name.trim() && { name: name.trim() }) },
      {
        onSuccess: ({ asset }) => {
          toast(text.created(asset.name));
          setMarks(NO_MARKS);
          setName("");
        },
      },
    );
  };
  return (
    <Panel title={text.title}>
      <fieldset className={classes.maker} aria-describedby={hint} onKeyDown={onKeyDown} disabled={video === null}>
        <p id={hint} className="quiet">
          {text.hint}
        </p>
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
        </div>
        <Figures
          figures={[
            { name: text.start, value: momentText(marks.start) },
            { name: text.end, value: momentText(marks.end) },
            { name: text.length, value: length === null ? text.unset : secondsText(length) },
          ]}
        />
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
      </fieldset>
      <ClipList of={of} />
    </Panel>
  );
}

/** `1:05.250` */
function momentText(ms: number | null): string {
  if (ms === null) return text.unset;
  return `${clockText(Math.floor(ms / 1000))}.${String(ms % 1000).padStart(3, "0")}`;
}
