import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type {
  EventSink,
  PublishGate,
  PublishGrant,
  RecordingRoom,
  SessionStart,
  StopReason,
} from "../../ports/index.ts";
import type { LadderResources } from "../ladder/live-ladder.ts";
import type { MediaMemory } from "../memory-pool.ts";
import type { Publication, PublisherHandle } from "../packet.ts";
import type { SessionRecorder } from "../recording/session-recorder.ts";
import type { ChapterPart } from "../recording/spool-chapter.ts";
import type { RestreamResources } from "../restream/session-targets.ts";
import { HubPublication } from "./hub-publication.ts";
import { LiveSession } from "./live-session.ts";

const TICK_MS = 50;
/** How long a finished session's playlists stay available for its last viewers. */
const KEEP_FINISHED_MS = 60_000;

const STOP_SENTENCES: Record<StopReason, string> = {
  terminated: "The stream was terminated by its owner. It may be published again at once.",
  suspended: "The stream was suspended by its owner.",
  deleted: "The stream was deleted by its owner.",
  "key-rotated": "The stream has a new stream key. Publish again with that one.",
};

export interface HubSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly publishGate: PublishGate;
  readonly eventSink: EventSink;
  readonly memory: MediaMemory;
  readonly reconnectWindowMs: number;
  readonly ladder: LadderResources;
  readonly restream: RestreamResources;
  readonly orchestrator: { readonly address: string; readonly url: string };
  readonly recordingRoom: () => RecordingRoom;
  readonly createRecorder: (grant: PublishGrant, start: SessionStart, part: ChapterPart) => SessionRecorder;
}

export interface HubFigures {
  readonly publishers: number;
  /** Sessions that have not ended, including those whose source is away. */
  readonly sessions: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Number of parts and segments sent to viewers. */
  readonly sent: LiveSession["sent"];
  /** Sessions with a running ladder. */
  readonly ladders: number;
  readonly transcodeLagMs: number;
  /** Multistream targets by state. */
  readonly targets: { readonly pending: number; readonly online: number; readonly offline: number };
}

/** The publishers of this node, one per stream with the newest grant winning, and the sessions that viewers find here. */
export class Hub {
  readonly #settings: HubSettings;
  readonly #publications = new Map<string, HubPublication>();
  readonly #sessions = new Map<string, LiveSession>();
  readonly #byPlaybackId = new Map<string, LiveSession>();
  /** Runs while there is a session. */
  #ticker: Timer | null = null;
  readonly #sealing = new Set<Promise<void>>();
  /** Bytes of forgotten sessions. */
  readonly #past = { bytesReceived: 0, bytesSent: 0, playlist: 0, part: 0, segment: 0 };

  constructor(settings: HubSettings) {
    this.#settings = settings;
  }

  get publisherCount(): number {
    return this.#publications.size;
  }

  /** Media currently moving through this node, and totals since its start. */
  get figures(): HubFigures {
    const sessions = [...this.#sessions.values()];
    const sum = (value: (session: LiveSession) => number) => sessions.reduce((total, one) => total + value(one), 0);
    return {
      publishers: this.publisherCount,
      sessions: sum((session) => (session.isFinished ? 0 : 1)),
      bytesReceived: this.#past.bytesReceived + sum((session) => session.bytesReceived),
      bytesSent: this.#past.bytesSent + sum((session) => session.bytesSent),
      sent: {
        playlist: this.#past.playlist + sum(({ sent }) => sent.playlist),
        part: this.#past.part + sum(({ sent }) => sent.part),
        segment: this.#past.segment + sum(({ sent }) => sent.segment),
      },
      ladders: sum(({ pipeline }) => (pipeline.transcodingState === "running" ? 1 : 0)),
      transcodeLagMs: Math.max(0, ...sessions.map(({ pipeline }) => pipeline.transcodingLagMs)),
      targets: countStates(sessions),
    };
  }

  /** Give a publisher its place. An older publisher of the same stream is dismissed at once. */
  open(grant: PublishGrant, publisher: PublisherHandle): Publication {
    const { clock, log, publishGate, eventSink } = this.#settings;
    const publication = new HubPublication({
      clock,
      log,
      publishGate,
      grant,
      publisher,
      sessionFor: (by, start) => this.#sessionFor(by, start),
      onEndedEarly: (why, reason) => {
        const { streamId, epoch } = grant;
        eventSink.report({
          type: "source-ended",
          streamId,
          epoch,
          at: clock.now(),
          why,
          reason,
          lastPacketAt: clock.now(),
        });
      },
      onClosed: (closed) => {
        if (this.#publications.get(grant.streamId) === closed) this.#publications.delete(grant.streamId);
      },
    });
    const current = this.#publications.get(grant.streamId);
    if (current && current.grant.epoch > grant.epoch) {
      publication.refuse("Another encoder took this stream over.");
      return publication;
    }
    this.#publications.set(grant.streamId, publication);
    current?.refuse("Another encoder took this stream over.");
    return publication;
  }

  /** The session with this id, live or recently finished. */
  session(sessionId: string): LiveSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** The session behind a playback id, live or ended within a minute. */
  sessionOf(playbackId: string): LiveSession | undefined {
    return this.#byPlaybackId.get(playbackId);
  }

  /** Close the stream's publisher and end its session, or let it wait for a new key. Suspended and deleted streams leave no playlist behind. */
  stop(streamId: string, why: StopReason): void {
    const publication = this.#publications.get(streamId);
    this.#publications.delete(streamId);
    publication?.refuse(STOP_SENTENCES[why]);
    for (const session of this.#sessions.values()) {
      if (session.streamId !== streamId) continue;
      if (why === "key-rotated") {
        session.sourceLost(session.epoch, why);
        continue;
      }
      session.cleanStop(session.epoch, why);
      if (why !== "terminated") this.#forget(session);
    }
  }

  /** The targets of one stream, or possibly of any stream, have changed. */
  targetsChanged(streamId: string | "all"): void {
    for (const session of this.#sessions.values()) {
      if (!session.isFinished && (streamId === "all" || session.streamId === streamId)) void session.targets.refresh();
    }
  }

  /** Shut down cleanly: publishers are told to reconnect, sessions end, recordings are sealed. */
  async drain(): Promise<void> {
    for (const publication of [...this.#publications.values()])
      publication.refuse("The server is shutting down. Please reconnect.", true);
    for (const session of this.#sessions.values()) {
      if (!session.isFinished) session.cleanStop(session.epoch, "server shutting down");
    }
    await Promise.allSettled(this.#sealing);
  }

  async close(): Promise<void> {
    this.#stopTicking();
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  #sessionFor(grant: PublishGrant, start: SessionStart): LiveSession {
    const known = this.#sessions.get(start.sessionId);
    if (known && !known.isFinished) {
      known.targets.set(start.targets);
      return known;
    }
    for (const other of this.#sessions.values()) if (other.streamId === grant.streamId) other.finish();
    const session = new LiveSession({
      clock: this.#settings.clock,
      eventSink: this.#settings.eventSink,
      memory: this.#settings.memory.parts,
      reconnectWindowMs: this.#settings.reconnectWindowMs,
      ladder: this.#settings.ladder,
      restream: this.#settings.restream,
      askTargets: () => this.#settings.publishGate.targets(grant.streamId),
      log: this.#settings.log,
      orchestrator: this.#settings.orchestrator,
      recordingRoom: this.#settings.recordingRoom,
      streamId: grant.streamId,
      projectId: grant.projectId,
      playbackId: grant.playbackId,
      start,
      recorder: start.record ? this.#settings.createRecorder(grant, start, "source") : null,
      rungRecorder: start.recordedProfiles.length > 0 ? this.#settings.createRecorder(grant, start, "rungs") : null,
      onFinished: (finished) => this.#finished(finished),
    });
    this.#ticker ??= this.#settings.clock.every(TICK_MS, () => {
      for (const session of this.#sessions.values()) session.tick();
    });
    this.#sessions.set(session.sessionId, session);
    this.#byPlaybackId.set(session.playbackId, session);
    return session;
  }

  #stopTicking(): void {
    this.#ticker?.cancel();
    this.#ticker = null;
  }

  #finished(session: LiveSession): void {
    const sealing = session.sealed().finally(() => this.#sealing.delete(sealing));
    this.#sealing.add(sealing);
    this.#settings.clock.after(KEEP_FINISHED_MS, () => this.#forget(session));
  }

  #forget(session: LiveSession): void {
    if (this.#sessions.get(session.sessionId) !== session) return;
    this.#sessions.delete(session.sessionId);
    if (this.#sessions.size === 0) this.#stopTicking();
    this.#past.bytesReceived += session.bytesReceived;
    this.#past.bytesSent += session.bytesSent;
    this.#past.playlist += session.sent.playlist;
    this.#past.part += session.sent.part;
    this.#past.segment += session.sent.segment;
    session.dispose();
    if (this.#byPlaybackId.get(session.playbackId) === session) this.#byPlaybackId.delete(session.playbackId);
  }
}

function countStates(sessions: readonly LiveSession[]): HubFigures["targets"] {
  const counts = { pending: 0, online: 0, offline: 0 };
  for (const { targets } of sessions) for (const { state } of targets.reports) counts[state]++;
  return counts;
}
