import type { Clock } from "../../platform/clock.ts";
import type { EventSink, RecordingRoom, RestreamTarget, SourceMetrics, TimelinePosition } from "../../ports/index.ts";
import type { TranscodedSegment } from "../ladder/live-ladder.ts";
import type { RenditionSegment } from "../packaging/segment-ledger.ts";
import type { PublicationEnd } from "../packet.ts";
import type { SessionRecorder } from "../recording/session-recorder.ts";
import type { TargetEvent, TargetStatus } from "../restream/target-status.ts";
import type { MeasuredFigures } from "./session-metrics.ts";

export interface SessionFactsSettings {
  readonly clock: Clock;
  readonly eventSink: EventSink;
  /** This node as a transcoder: its id and location. */
  readonly orchestrator: { readonly address: string; readonly url: string };
  /** Free space for recordings. */
  readonly recordingRoom: () => RecordingRoom;
  /** Null if the session is neither recorded nor kept for those who go back. */
  readonly recorder: SessionRecorder | null;
  /** Null if that has no rungs. */
  readonly rungRecorder: SessionRecorder | null;
}

/** The session that the facts are about. */
interface FactSubject {
  readonly sessionId: string;
  readonly streamId: string;
  /** Of its current publisher. */
  readonly epoch: number;
  readonly isRecorded: boolean;
}

/** Reports the facts of one session; those of segments by way of its recorders, which have each on the disk before they report it. */
export class SessionFacts {
  readonly #settings: SessionFactsSettings;
  readonly #subject: FactSubject;
  /** Slates since the last recorded segment, as gaps. They are recorded with the next one: no recording ends in gaps. */
  readonly #slates: { source: RenditionSegment[]; rungs: RenditionSegment[] } = { source: [], rungs: [] };

  constructor(settings: SessionFactsSettings, subject: FactSubject) {
    this.#settings = settings;
    this.#subject = subject;
  }

  sourceBack(): void {
    const { streamId, epoch, at } = this.#about();
    this.#settings.eventSink.report({ type: "source-back", streamId, epoch, at });
  }

  /**
   * Runs after the recorder has reported its last segment, so that a reader of the facts in order sees a session end when all of it is known.
   * `silentMs`: how long ago the source was heard last.
   */
  async sourceEnded(why: PublicationEnd, reason: string, silentMs: number): Promise<void> {
    const { eventSink, recorder } = this.#settings;
    const { streamId, epoch, at } = this.#about();
    await recorder?.flushed();
    const lastPacketAt = at - Math.round(silentMs);
    eventSink.report({ type: "source-ended", streamId, epoch, at, why, reason, lastPacketAt });
  }

  /** A segment is closed in every rendition of the source. */
  segmentClosed(segments: readonly RenditionSegment[], position: TimelinePosition): void {
    const { eventSink, recorder } = this.#settings;
    const source = segments.find(({ segment }) => segment.init !== null)?.segment;
    if (source?.isSlate) {
      if (recorder) this.#slates.source.push(...segments.map(asGap));
      return;
    }
    const fact = {
      type: "segment-closed",
      ...this.#about(),
      position,
      durationSeconds: source?.seconds ?? 0,
      bytes: bytesOf(segments),
    } as const;
    // A session in which no sound ever came has no audio in its recording.
    const hasSound = position.sound !== null;
    const recorded = segments.filter(({ segment }) => hasSound || segment.init?.track.kind !== "audio");
    if (recorder) recorder.record(fact, [...recorded, ...this.#slates.source.splice(0)]);
    else eventSink.report({ ...fact, recorded: [] });
  }

  /** A segment is closed in every rung. */
  rungsClosed(segments: readonly RenditionSegment[]): void {
    const { rungRecorder } = this.#settings;
    if (!rungRecorder) return;
    if (segments.some(({ segment }) => segment.isSlate)) return void this.#slates.rungs.push(...segments.map(asGap));
    const recorded = [...segments, ...this.#slates.rungs.splice(0)];
    rungRecorder.record({ type: "rungs-recorded", ...this.#about(), bytes: bytesOf(segments) }, recorded);
  }

  segmentTranscoded({ msn, isMade, seconds, sourceBytes, attempts, ...told }: TranscodedSegment): void {
    const { eventSink, orchestrator } = this.#settings;
    eventSink.report({
      type: "segment-transcoded",
      ...this.#about(),
      ...told,
      segment: { name: `${msn}.m4s`, seqNo: msn, duration: seconds, byteSize: sourceBytes },
      success: isMade,
      attempts: attempts.map(({ child, latencyMs, error }) => ({
        orchestrator: { address: orchestrator.address, transcodeUri: `${orchestrator.url}/transcode/${child}` },
        latencyMs,
        error,
      })),
    });
  }

  targetChanged({ id, name, profile }: RestreamTarget, status: TargetStatus, told: TargetEvent): void {
    this.#settings.eventSink.report({
      type: "target-changed",
      ...this.#about(),
      target: { id, name, profile },
      state: status.state,
      reason: "reason" in status ? status.reason : null,
      told,
    });
  }

  metrics(figures: MeasuredFigures): void {
    const { eventSink, recordingRoom } = this.#settings;
    const fact: SourceMetrics = {
      type: "source-metrics",
      ...this.#about(),
      ...figures,
      recordingRoom: this.#subject.isRecorded ? recordingRoom() : null,
    };
    eventSink.report(fact);
  }

  /** The fields of every fact about the session. */
  #about() {
    const { streamId, epoch, sessionId } = this.#subject;
    return { streamId, epoch, at: this.#settings.clock.now(), sessionId };
  }
}

function asGap({ rendition, segment }: RenditionSegment): RenditionSegment {
  return { rendition, segment: segment.asGap() };
}

function bytesOf(segments: readonly RenditionSegment[]): number {
  return segments.reduce((bytes, { segment }) => bytes + segment.bytes, 0);
}
