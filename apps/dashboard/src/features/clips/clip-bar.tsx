import { useElementSize, useMergedRef } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { drawPicture, fetchStoryboard, loadImage, pictureAt } from "@weir/player/pictures";
import { type CSSProperties, type KeyboardEvent, type PointerEvent, useEffect, useRef } from "react";
import { strings } from "../../shared/strings.ts";
import { usePreview } from "../preview/owner-preview.ts";
import classes from "./clip-bar.module.css";
import { type ClipMarks, type Mark, markMoved, momentText, stepOf } from "./clip-marks.ts";

const text = strings.clips;
const CELL = { width: 96, height: 54 };

interface Props {
  readonly playbackId: string;
  readonly durationMs: number;
  readonly positionMs: number;
  readonly frameSeconds: number;
  readonly marks: ClipMarks;
  readonly onMarks: (marks: ClipMarks) => void;
  /** Shows a moment in the player. */
  readonly onSeek: (ms: number) => void;
}

/** The whole video as a strip of pictures, with the clip's start and end as handles. A press on the strip shows that moment. */
export function ClipBar({ playbackId, durationMs, positionMs, frameSeconds, marks, onMarks, onSeek }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  const momentAt = ({ clientX }: PointerEvent): number => {
    const { left, width } = bar.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return Math.round(Math.min(1, Math.max(0, (clientX - left) / width)) * durationMs);
  };
  const move = (mark: Mark, ms: number): void => {
    const moved = markMoved(marks, mark, ms, durationMs);
    onMarks(moved);
    onSeek(moved[mark] ?? 0);
  };
  const share = (ms: number | null): string => `${((ms ?? 0) / durationMs) * 100}%`;
  const hasBoth = marks.start !== null && marks.end !== null && marks.end > marks.start;
  return (
    <div
      ref={bar}
      className={classes.bar}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        onSeek(momentAt(event));
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onSeek(momentAt(event));
      }}
    >
      <Strip playbackId={playbackId} durationMs={durationMs} />
      {hasBoth && (
        <span
          className={classes.kept}
          style={{ "--w-from": share(marks.start), "--w-to": share(marks.end) } as CSSProperties}
        />
      )}
      <span className={classes.position} style={{ left: share(positionMs) }} />
      {(["start", "end"] as const).map((mark) => (
        <Handle
          key={mark}
          mark={mark}
          ms={marks[mark]}
          left={share(marks[mark])}
          {...{ durationMs, frameSeconds, momentAt }}
          onMove={(ms) => move(mark, ms)}
        />
      ))}
    </div>
  );
}

interface HandleProps extends Pick<Props, "durationMs" | "frameSeconds"> {
  readonly mark: Mark;
  readonly ms: number | null;
  readonly left: string;
  readonly momentAt: (event: PointerEvent) => number;
  readonly onMove: (ms: number) => void;
}

/** One end of the clip: dragged, or moved by arrow keys frame by frame, with Shift second by second. */
function Handle({ mark, ms, left, durationMs, frameSeconds, momentAt, onMove }: HandleProps) {
  if (ms === null) return null;
  const onKeyDown = (event: KeyboardEvent): void => {
    const seconds = stepOf(event.key, event.shiftKey, frameSeconds);
    if (seconds === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    onMove(ms + seconds * 1000);
  };
  return (
    <span
      role="slider"
      tabIndex={0}
      className={classes.handle}
      data-mark={mark}
      style={{ left }}
      aria-label={text[mark]}
      aria-valuemin={0}
      aria-valuemax={durationMs}
      aria-valuenow={ms}
      aria-valuetext={momentText(ms)}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        event.stopPropagation();
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onMove(momentAt(event));
      }}
    />
  );
}

/** Pictures from the beginning to the end of the video, loaded one after the other. */
function Strip({ playbackId, durationMs }: Pick<Props, "playbackId" | "durationMs">) {
  const { ref: measured, width } = useElementSize<HTMLDivElement>();
  const strip = useRef<HTMLDivElement>(null);
  const ref = useMergedRef(measured, strip);
  const playlist = usePreview(`/asset/hls/${playbackId}/index.m3u8`, playbackId);
  const { data: pictures } = useQuery({
    queryKey: ["storyboard", playlist],
    queryFn: ({ signal }) => fetchStoryboard(playlist ?? "", signal),
    enabled: playlist !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const count = Math.ceil(width / CELL.width);
  useEffect(() => {
    const cells = [...(strip.current?.children ?? [])] as HTMLElement[];
    let isCurrent = true;
    const fill = async (): Promise<void> => {
      for (const [at, cell] of cells.entries()) {
        const picture = pictureAt(pictures ?? [], (((at + 0.5) * CELL.width) / width) * (durationMs / 1000));
        const image = picture && (await loadImage(picture.url).catch(() => null));
        if (!isCurrent) return;
        if (picture && image) drawPicture(cell, picture, image, CELL);
      }
    };
    void fill();
    return () => {
      isCurrent = false;
    };
  }, [pictures, width, durationMs]);
  return (
    <div ref={ref} className={classes.strip} aria-hidden>
      {Array.from({ length: count }, (_, at) => (
        <span key={String(at)} />
      ))}
    </div>
  );
}
