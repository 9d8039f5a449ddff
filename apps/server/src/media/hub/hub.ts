import type { Timer } from "../../platform/clock.ts";
import type { Slices } from "../../platform/slices.ts";
import type {
  HeldSession,
  PublishGate,
  PublishGrant,
  SessionStart,
  StopReason,
  StreamMove,
  TimelinePosition,
} from "../../ports/index.ts";
import type { SessionDvr } from "../dvr/session-dvr.ts";
import type { MediaMemory } from "../memory-pool.ts";
import type { Publication, PublisherHandle } from "../packet.ts";
import type { SessionRecorder } from "../recording/session-recorder.ts";
import type { ChapterPart } from "../recording/spool-chapter.ts";
import { Sent } from "../sent.ts";
import { HubPublication, TAKEN_OVER } from "./hub-publication.ts";
import { LiveSession, type LiveSessionSettings } from "./live-session.ts";

const TICK_MS = 50;
/** How long a finished session's playlists stay available for its last viewers, and those of one that another node has now. */
const KEEP_FINISHED_MS = 60_000;
/** How long viewers who go back have an ended session whose recording is not ready, as while the object store is away. Its live window is not kept. */
const KEEP_UNSTORED_MS = 60 * 60_000;
/** Publishers of one stream that have sent no media. Beyond this, the oldest leaves. */
const MAX_WAITING = 4;
/** A request that waits for a list's next part has its answer by then. */
const WAITING_ANSWERED_MS = 30_000;

const STOP_SENTENCES: Record<StopReason, string> = {
  terminated: "The stream was terminated by its owner. It may be published again at once.",
  suspended: "The stream was suspended by its owner.",
  deleted: "The stream was deleted by its owner.",
  "key-rotated": "The stream has a new stream key. Publish again with that one.",
};
const WINDOW_OVER =
  "The session ended because the server could not reach its database for longer than the reconnect window. Please reconnect.";

type NodeSetting =
  | "clock"
  | "log"
  | "eventSink"
  | "reconnectWindowMs"
  | "ladder"
  | "makeSlate"
  | "restream"
  | "orchestrator"
  | "recordingRoom";

/** How sessions go on that other nodes have had. */
export interface Takeover {
  /** The start at the exact position of the owner before, if that answers in time. Never rejects. */
  begin(grant: PublishGrant, start: SessionStart): Promise<SessionStart>;
  /** The live window of the owner before, as far as this node has it: the session writes it from now on. */
  takeWindow(start: SessionStart, playbackId: string): LiveSessionSettings["window"];
}

export interface HubSettings extends Pick<LiveSessionSettings, NodeSetting> {
  readonly publishGate: PublishGate;
  /** Publishers that begin take turns. */
  readonly slices: Slices;
  readonly memory: MediaMemory;
  readonly createRecorder: (
    grant: PublishGrant,
    start: SessionStart,
    part: ChapterPart,
    dvr: SessionDvr | null,
  ) => SessionRecorder;
  /** Null where nodes do not reach each other. */
  readonly takeover: Takeover | null;
  /** Null if viewers cannot go back. */
  readonly createDvr: (grant: PublishGrant, start: SessionStart) => SessionDvr | null;
}

export interface HubFigures {
  readonly publishers: number;
  /** Sessions that have not ended, including those whose source is away. */
  readonly sessions: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Number of parts and segments sent to viewers. */
  readonly sent: Sent["responses"];
  /** Sessions with a running ladder. */
  readonly ladders: number;
  readonly transcodeLagMs: number;
  /** Multistream targets by state. */
  readonly targets: { readonly pending: number; readonly online: number; readonly offline: number };
}

/**
 * The publishers of this node, and the sessions that viewers find here. A stream's owner is the publisher whose media began last: until then, a
 * newer one changes nothing for it.
 */
export class Hub {
  readonly #settings: HubSettings;
  readonly #publications = new Set<HubPublication>();
  /** By stream. */
  readonly #owners = new Map<string, HubPublication>();
  readonly #sessions = new Map<string, LiveSession>();
  readonly #byPlaybackId = new Map<string, LiveSession>();
  /** Runs while there is a session. */
  #ticker: Timer | null = null;
  readonly #sealing = new Set<Promise<void>>();
  /** Bytes of forgotten sessions. */
  readonly #past = { bytesReceived: 0, sent: new Sent() };

  constructor(settings: HubSettings) {
    this.#settings = settings;
  }

  get publisherCount(): number {
    return this.#publications.size;
  }

  /** Media currently moving through this node, and totals since its start. */
  get figures(): HubFigures {
    const sessions = [...this.#sessions.values()];
    const sent = new Sent();
    for (const one of [this.#past, ...sessions]) sent.add(one.sent);
    const sum = (value: (session: LiveSession) => number) => sessions.reduce((total, one) => total + value(one), 0);
    return {
      publishers: this.publisherCount,
      sessions: sum((session) => (session.isFinished || session.isLeft ? 0 : 1)),
      bytesReceived: this.#past.bytesReceived + sum((session) => session.bytesReceived),
      bytesSent: sent.bytes,
      sent: sent.responses,
      ladders: sum(({ outputs }) => (outputs.ladder?.status.state === "running" ? 1 : 0)),
      transcodeLagMs: Math.max(0, ...sessions.map(({ outputs }) => outputs.ladder?.lagMs ?? 0)),
      targets: countStates(sessions),
    };
  }

  /** Give a publisher its place. An older publisher of the same stream is dismissed when the media of this one begins. */
  open(grant: PublishGrant, publisher: PublisherHandle): Publication {
    const { clock, eventSink } = this.#settings;
    const publication = new HubPublication({
      ...this.#settings,
      grant,
      publisher,
      begin: () => this.#begin(grant),
      sessionFor: (by, start) => this.#sessionFor(by, start),
      onEndedEarly: (why, reason) => {
        const { streamId, epoch } = grant;
        const at = clock.now();
        eventSink.report({ type: "source-ended", streamId, epoch, at, why, reason, lastPacketAt: at });
      },
      onClosed: (closed) => {
        this.#publications.delete(closed);
        if (this.#owners.get(grant.streamId) === closed) this.#owners.delete(grant.streamId);
      },
    });
    this.#publications.add(publication);
    const waiting = [...this.#publications].filter((each) => each.isWaiting && each.grant.streamId === grant.streamId);
    if (waiting.length > MAX_WAITING) waiting[0]?.refuse(TAKEN_OVER);
    return publication;
  }

  /** The sessions that this node takes for its own. */
  held(): HeldSession[] {
    return [...this.#sessions.values()]
      .filter((session) => !session.isFinished && !session.isLeft)
      .map(({ streamId, sessionId, epoch, isLive }) => ({ streamId, sessionId, epoch, isLive }));
  }

  /**
   * The stream has an owner on another node. A publisher of before is let go, also one whose session is being begun; targets and recording of its session end, and the playlists stay as
   * they are, because the session goes on there.
   */
  moved({ streamId, epoch }: Pick<StreamMove, "streamId" | "epoch">): void {
    for (const publication of [...this.#publications]) {
      const { grant, isWaiting } = publication;
      if (grant.streamId === streamId && grant.epoch < epoch && !isWaiting)
        publication.refuse(TAKEN_OVER, { as: "source-lost" });
    }
    for (const session of this.#sessions.values())
      if (session.streamId === streamId && session.epoch < epoch) this.#leave(session);
  }

  /** The session ended in the database without this node, which could not reach it. */
  windowOver(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    const owner = this.#owners.get(session.streamId);
    if (owner?.grant.epoch === session.epoch) owner.refuse(WINDOW_OVER, { mayReturn: true });
    session.finish();
  }

  /** The session with this id, live or recently finished. */
  session(sessionId: string): LiveSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** The session behind a playback id, live or ended within a minute. */
  sessionOf(playbackId: string): LiveSession | undefined {
    return this.#byPlaybackId.get(playbackId);
  }

  /** A session that was left, whose window nobody else has taken: it is the caller's. */
  takeLeft(playbackId: string): LiveSession | null {
    const session = this.#byPlaybackId.get(playbackId);
    return session?.give() ? session : null;
  }

  /** Close the stream's publisher and end its session, or let it wait for a new key. Suspended and deleted streams leave no playlist behind. */
  stop(streamId: string, why: StopReason): void {
    const as = why === "key-rotated" ? "source-lost" : "clean-stop";
    for (const publication of [...this.#publications])
      if (publication.grant.streamId === streamId) publication.refuse(STOP_SENTENCES[why], { as });
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

  /** Shut down cleanly: publishers are told to reconnect, sessions end, or `isHeld` wait for another node, and recordings are sealed. */
  async drain(isHeld: boolean): Promise<void> {
    // First, so that the end of its publisher is not the end of the session.
    if (isHeld) for (const session of this.#sessions.values()) this.#leave(session);
    const as = isHeld ? "source-lost" : "clean-stop";
    for (const publication of [...this.#publications])
      publication.refuse("The server is shutting down. Please reconnect.", { mayReturn: true, as });
    for (const session of this.#sessions.values()) {
      if (!session.isFinished && !session.isLeft) session.cleanStop(session.epoch, "server shutting down");
    }
    await Promise.allSettled(this.#sealing);
  }

  async close(): Promise<void> {
    this.#stopTicking();
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #begin(grant: PublishGrant): Promise<SessionStart | null> {
    const { publishGate, takeover, clock } = this.#settings;
    const start = await publishGate.begin(grant, clock.now());
    return start && takeover ? takeover.begin(grant, start) : start;
  }

  #sessionFor(publication: HubPublication, start: SessionStart): LiveSession | null {
    const { grant } = publication;
    const owner = this.#owners.get(grant.streamId);
    if (owner && owner.grant.epoch > grant.epoch) return null;
    this.#owners.set(grant.streamId, publication);
    owner?.refuse(TAKEN_OVER);
    const known = this.#sessions.get(start.sessionId);
    if (known && !known.isFinished && !known.isLeft && known.epoch === start.previousEpoch) {
      known.targets.set(start.targets);
      return known;
    }
    for (const other of this.#sessions.values())
      if (other.streamId === grant.streamId && other !== known && !other.isLeft) other.finish();
    // Another node had the session in between: its list cannot go on here, and its numbers are used.
    if (known) this.#replace(known);
    return this.#open(grant, { ...start, resume: later(start.resume, known?.timeline.position ?? null) });
  }

  #open(grant: PublishGrant, start: SessionStart): LiveSession {
    const { publishGate, memory, createRecorder, createDvr, takeover } = this.#settings;
    const dvr = createDvr(grant, start);
    const recorderOf = (part: ChapterPart) => createRecorder(grant, start, part, dvr);
    const isKept = start.record || dvr !== null;
    const session = new LiveSession({
      ...this.#settings,
      memory: memory.parts,
      askTargets: () => publishGate.targets(grant.streamId),
      grant,
      start,
      window: takeover?.takeWindow(start, grant.playbackId) ?? new Map(),
      dvr,
      recorder: isKept ? recorderOf("source") : null,
      rungRecorder: isKept && start.recordedProfiles.length > 0 ? recorderOf("rungs") : null,
      onFinished: (finished) => this.#finished(finished),
      // A node without its lease cannot know whether the session goes on at another.
      onWindowOver: (over) => (publishGate.hasLease() ? over.finish() : this.#leave(over)),
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

  #leave(session: LiveSession): void {
    if (session.isFinished || session.isLeft) return;
    session.leave();
    this.#finished(session);
  }

  /** Out of the way of a session with the same id. */
  #replace(session: LiveSession): void {
    this.#leave(session);
    this.#forget(session);
  }

  #finished(session: LiveSession): void {
    const sealing = session.sealed().finally(() => this.#sealing.delete(sealing));
    this.#sealing.add(sealing);
    this.#forgetLater(session, KEEP_UNSTORED_MS);
  }

  /** Who goes back in an ended session goes on in its recording, under the same addresses. Until that is ready, the session stays. */
  #forgetLater(session: LiveSession, keptMs: number): void {
    this.#settings.clock.after(KEEP_FINISHED_MS, () => {
      const { dvr } = session;
      if (!dvr || !session.isFinished || keptMs <= 0) return this.#forget(session);
      void dvr.isInRecording().then((isReady) => {
        if (isReady) return this.#forget(session);
        session.dispose();
        this.#forgetLater(session, keptMs - KEEP_FINISHED_MS);
      });
    });
  }

  #forget(session: LiveSession): void {
    if (this.#sessions.get(session.sessionId) !== session) return;
    this.#sessions.delete(session.sessionId);
    if (this.#sessions.size === 0) this.#stopTicking();
    this.#past.bytesReceived += session.bytesReceived;
    this.#past.sent.add(session.sent);
    // The bytes of a session that goes on elsewhere may still be waited for.
    if (session.isLeft) this.#settings.clock.after(WAITING_ANSWERED_MS, () => session.dispose());
    else session.dispose();
    if (this.#byPlaybackId.get(session.playbackId) === session) this.#byPlaybackId.delete(session.playbackId);
  }
}

/** A position that no name of either is behind. */
function later(a: TimelinePosition | null, b: TimelinePosition | null): TimelinePosition | null {
  if (!a || !b) return a ?? b;
  return {
    ...a,
    nextMsn: Math.max(a.nextMsn, b.nextMsn),
    discontinuitySequence: Math.max(a.discontinuitySequence, b.discontinuitySequence),
    endTicks: Math.max(a.endTicks, b.endTicks),
  };
}

function countStates(sessions: readonly LiveSession[]): HubFigures["targets"] {
  const counts = { pending: 0, online: 0, offline: 0 };
  for (const { targets } of sessions) for (const { state } of targets.reports) counts[state]++;
  return counts;
}
