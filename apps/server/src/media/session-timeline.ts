/**
 * READ FIRST. The whole live flow of one session, top to bottom; nothing downstream calls upstream.
 *
 *   ingest/…            a socket becomes Track and SourcePacket                       (packet.ts)
 *     ▼
 *   hub/                who may write, take over, come back; when a source is lost
 *     ▼
 *   timeline/           source clock → T; stretches; one cutter for all renditions    → Sample, Cut
 *     ▼
 *   SessionOutputs      stretch, cut, sample, pause, end: the verbs of a feed, whoever gives them   (session-outputs.ts)
 *     ├──▶  packaging/  samples → parts → segments, in memory, one LiveRendition each
 *     │       ├──▶  delivery/                  playlists and bytes for viewers, read from the LiveRenditions
 *     │       └──▶  packaging/segment-ledger   a segment closed in every rendition
 *     │               └──▶  hub/               facts to the event sink; the segment to recording/: spool, then object store
 *     └──▶  feed/       the same samples and cuts for any number of readers
 *             ├──▶  ladder/          more LiveRenditions, packaged, listed and recorded as the source's are
 *             ├──▶  restream/        targets, of the source or of a rung: bytes to other platforms
 *             └──▶  delivery/whep/   viewers by WebRTC
 */
import type { TimelinePosition } from "../ports/index.ts";
import type { RenditionSegment } from "./packaging/segment-ledger.ts";
import { SessionOutputs, type SessionOutputsSettings } from "./session-outputs.ts";
import { TargetDuration } from "./timeline/target-duration.ts";
import { Timeline, type TimelineSettings } from "./timeline/timeline.ts";

export interface SessionTimelineSettings
  extends Pick<TimelineSettings, "clock" | "resume" | "lastSound" | "onUnstable">,
    Pick<SessionOutputsSettings, "memory" | "ladder"> {
  /** As of `SessionOutputsSettings`; absent for none. */
  readonly window?: SessionOutputsSettings["window"] | undefined;
  /** The target duration that the stream's last session would have needed; null where it had none. */
  readonly lastTargetDuration: number | null;
  /** Show viewers a picture while the source is away: `slateImages`, or the last one. */
  readonly hasSlate: boolean;
  readonly slateImages?: SessionOutputsSettings["slateImages"];
  /** A segment is closed in every rendition. */
  readonly onSegment: (segments: readonly RenditionSegment[], position: TimelinePosition) => void;
}

/** The timeline of a session whose source publishes to this process, and the outputs that it feeds. */
export function openTimeline(settings: SessionTimelineSettings): { timeline: Timeline; outputs: SessionOutputs } {
  const { clock, memory, resume, lastTargetDuration, lastSound, hasSlate, onSegment, onUnstable, ladder, window } =
    settings;
  const target = new TargetDuration({ fixed: resume?.targetDuration ?? null, lastSession: lastTargetDuration });
  const outputs = new SessionOutputs({
    clock,
    memory,
    target,
    discontinuitySequence: resume?.discontinuitySequence ?? 0,
    window: window ?? new Map(),
    onSegment: (segments) => onSegment(segments, timeline.position),
    ladder,
    slateImages: settings.slateImages ?? null,
  });
  const slate = hasSlate ? outputs.slate : null;
  const timeline = new Timeline({ clock, sink: outputs, slate, resume, lastSound, target, onUnstable });
  return { timeline, outputs };
}
