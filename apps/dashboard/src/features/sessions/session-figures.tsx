import type { Session } from "@weir/contract";
import { type Figure, Figures } from "../../shared/components/figures.tsx";
import { LastMoment, Moment } from "../../shared/components/moment.tsx";
import { bytesText, countText, durationText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { RecordingState } from "./recording-state.tsx";

const text = strings.sessions;

interface Props {
  readonly session: Session;
  /** The most viewers at once; null where nothing was measured. */
  readonly peak: number | null;
  readonly peakHint?: string;
}

/** When a broadcast was, and how much it was. */
export function SessionFigures({ session, peak, peakHint }: Props) {
  const figures: Figure[] = [
    { name: text.columns.started, value: <Moment at={session.createdAt} /> },
    { name: text.columns.duration, value: durationText(session.sourceSegmentsDuration) },
    { name: text.columns.size, value: bytesText(session.sourceBytes) },
    { name: text.columns.recording, value: <RecordingState session={session} /> },
  ];
  if (!session.isActive)
    figures.splice(1, 0, { name: text.ended, value: <LastMoment at={session.endedAt ?? session.lastSeen} /> });
  if (peak !== null) figures.push({ name: text.peak, value: countText(peak), ...(peakHint && { hint: peakHint }) });
  return <Figures figures={figures} />;
}
