import { useQuery } from "@tanstack/react-query";
import type { Stream } from "@weir/contract";
import type { PlaybackFigures } from "@weir/player";
import type { ReactNode } from "react";
import { sessionQuery } from "../../features/sessions/session-queries.ts";
import { type Figure, Figures } from "../../shared/components/figures.tsx";
import { Note } from "../../shared/components/note.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { useNow } from "../../shared/lib/now.ts";
import { bitrateText, bytesText, durationText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";

const text = strings.streams.figures;
const ladder = strings.streams.ladder;

interface Props {
  readonly stream: Stream;
  readonly playback: PlaybackFigures | null;
  /** What can be done with the picture. */
  readonly children?: ReactNode;
}

/** The live figures next to the player. */
export function StreamFigures({ stream, playback, children }: Props) {
  const { sessionId, state } = stream.status;
  const now = useNow();
  const { data: session } = useQuery({ ...sessionQuery(sessionId ?? ""), enabled: sessionId !== undefined });
  const { transcoding, renditions = [] } = stream.status;
  const latency = playback?.latencySeconds;
  const figures: Figure[] = [
    { name: text.ingest, value: state === "live" ? ingestText(stream.ingestRate) : strings.actions.none },
    { name: text.sent, value: bitrateText(stream.outgoingRate) },
    {
      name: text.latency,
      hint: text.latencyHint,
      value: latency == null ? strings.actions.none : `${latency.toFixed(1)} s`,
    },
    { name: text.stalls, hint: text.stallsHint, value: String(playback?.stalls ?? 0) },
  ];
  if (renditions.length > 0) {
    const running = renditions.filter((rendition) => rendition.state === "running").length;
    figures.push({ name: ladder.title, value: ladder.running(running, renditions.length) });
  }
  if (session) {
    figures.push(
      { name: text.session, value: durationText((now - session.createdAt) / 1000) },
      // Counted with each segment, of which the first is still open.
      { name: text.received, value: session.sourceBytes > 0 ? bytesText(session.sourceBytes) : strings.actions.none },
      { name: text.recording, value: session.record ? text.recordingOn : text.recordingOff },
    );
  }
  return (
    <Panel title={text.title}>
      {state === "reconnecting" && <Note tone="warning">{text.reconnecting}</Note>}
      {transcoding?.state === "source-only" && (
        <Note tone="warning" title={ladder.sourceOnlyNow}>
          {transcoding.reason}
        </Note>
      )}
      {transcoding?.state === "starting" && <p className="quiet">{ladder.starting}</p>}
      <Figures figures={figures} />
      {session?.recordingError && <Note tone="warning">{session.recordingError}</Note>}
      {children}
    </Panel>
  );
}

/** The first measure comes ten seconds after the first picture. */
function ingestText(bytesPerSecond: number): string {
  return bytesPerSecond > 0 ? bitrateText(bytesPerSecond) : text.measuring;
}
