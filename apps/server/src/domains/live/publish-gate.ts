import { isDeepStrictEqual } from "node:util";
import { DEFAULT_PROFILES, type Profile } from "@weir/contract";
import { sql } from "kysely";
import type {
  MediaControl,
  PublishDecision,
  PublishGate,
  PublishGrant,
  PublishRefusal,
  PublishRequest,
  RefusedAttempt,
  RestreamTarget,
  SessionStart,
} from "../../ports/index.ts";
import type { EventDeps } from "../events/index.ts";
import { isStreamKey } from "../ids.ts";
import { targetsToForward } from "../multistream/index.ts";
import { findPlace } from "../nodes/index.ts";
import { recordedProfiles } from "../recorded-profiles.ts";
import { recordingEvent } from "../recordings/index.ts";
import type { Trx } from "../schema.ts";
import { beginSession, resumeSession } from "../sessions/index.ts";
import { type LiveStream, lockLiveStreams, saveLiveStream } from "./live-stream.ts";
import type { RefusedPublishes } from "./refused-publishes.ts";
import { isActive, nextStreamStatus } from "./stream-status.ts";
import { applyToStream, stateEvent } from "./stream-transition.ts";

export interface PublishGateDeps extends EventDeps {
  readonly refusals: RefusedPublishes;
  readonly node: {
    readonly id: string;
    readonly region: string;
    readonly isDraining: boolean;
    readonly isSteady: boolean;
    /** Where other nodes reach it; null if they do not. */
    readonly address: string | null;
  };
  readonly mediaControl: Pick<MediaControl, "moved">;
  readonly reconnectWindowMs: number;
  /** The longest way back for viewers. */
  readonly dvrMaxHours: number;
  /** Resolves when all earlier facts are in the database: one publisher's end must be known before the next one's start. */
  readonly settleFacts: () => Promise<void>;
}

/** Looked up instead of a malformed key, so that both cost the same. */
const NOBODYS_KEY = "0000";

interface GrantRow {
  id: string;
  project_id: string;
  playback_id: string;
  epoch: string | null;
}

/**
 * Decides who may publish, from the rows of the streams. `authorize` numbers an attempt; `begin`, at its first media, makes it the stream's owner:
 * its number becomes the stream's epoch, and no fact of an earlier owner counts any more.
 */
export class StreamPublishGate implements PublishGate {
  readonly #deps: PublishGateDeps;

  constructor(deps: PublishGateDeps) {
    this.#deps = deps;
  }

  async authorize(request: PublishRequest): Promise<PublishDecision> {
    const { node, log } = this.#deps;
    if (node.isDraining) return this.#refuse(request, "draining");
    let row: GrantRow | undefined;
    try {
      row = await this.#numberAttempt(isStreamKey(request.streamKey) ? request.streamKey : NOBODYS_KEY);
    } catch (error) {
      log.error({ err: error }, "a publisher was refused because the database did not answer");
      return this.#refuse(request, "unavailable");
    }
    if (!row) return this.#refuse(request, "unknown-key");
    if (row.epoch === null) return this.#refuse(request, "suspended");
    return {
      ok: true,
      grant: { streamId: row.id, projectId: row.project_id, playbackId: row.playback_id, epoch: Number(row.epoch) },
    };
  }

  async begin(grant: PublishGrant, at: number): Promise<SessionStart | null> {
    await this.#deps.settleFacts();
    const { node } = this.#deps;
    const begun = await this.#deps.db.transaction().execute(async (trx) => {
      const stream = (await lockLiveStreams(trx, [grant.streamId])).get(grant.streamId);
      if (!stream?.mayPublish || stream.epoch >= grant.epoch) return null;
      const { events, reconnectWindowMs } = this.#deps;
      const isWindowOver = stream.state === "reconnecting" && (stream.reconnectUntil ?? 0) <= at;
      const ended = isWindowOver ? await applyToStream(trx, stream, "window-over", { at, reconnectWindowMs }) : [];

      const before = stream.state;
      const next = nextStreamStatus(before, before === "live" ? "second-publisher" : "publish-accepted");
      const isSameNode = stream.nodeId === node.id;
      const isMoved = stream.sessionId !== null && !isSameNode;
      const mayAsk = isMoved && node.address !== null && stream.nodeId !== null;
      const previousPlace = mayAsk ? await findPlace(trx, stream.nodeId ?? "") : null;
      Object.assign(stream, { epoch: grant.epoch, nodeId: node.id, region: node.region });
      const as = { epoch: grant.epoch, nodeId: node.id, at };
      const session = stream.sessionId
        ? await resumeSession(trx, stream.sessionId, { ...as, isSameNode })
        : await beginSession(trx, { ...seedOf(stream, this.#deps.dvrMaxHours), ...as });
      Object.assign(stream, { state: next.state, sessionId: session.id, reconnectUntil: null });
      stream.lastSeen = Math.max(stream.lastSeen, at);
      await saveLiveStream(trx, stream, before === next.state ? null : at);
      const {
        id: sessionId,
        startedAtMs,
        position: resume,
        previousEpoch,
        last,
        record,
        dvrSeconds,
        profiles,
      } = session;
      const kept =
        record || dvrSeconds !== null ? recordedProfiles(record ? stream.recordingSpec : null, profiles) : [];

      const { id: streamId, owner } = stream;
      const begun = [
        ...(isActive(before) ? [] : [stateEvent(stream, at)]),
        ...(resume === null && record ? [recordingEvent("recording.started", { streamId, owner, sessionId, at })] : []),
      ];
      await events.append(trx, [...ended, ...begun]);
      const isDefault = isDefaultLadder(profiles);
      const targets = await targetsToForward(trx, streamId);
      const ladder = { recordedProfiles: kept.map(({ name }) => name), profiles, isDefaultLadder: isDefault };
      const taken = { lastTargetDuration: last?.targetDuration ?? null, lastSound: last?.sound ?? null };
      const { slate } = stream;
      const slateImage = slate === "image" ? await findSlateImage(trx, streamId) : null;
      const start = {
        sessionId,
        startedAtMs,
        resume,
        previousEpoch,
        previousPlace,
        ...taken,
        record,
        slate,
        slateImage,
        dvrSeconds,
        ...ladder,
        targets,
      };
      return { start, isMoved };
    });
    if (begun && (begun.isMoved || this.#deps.node.address !== null)) this.#tellMoved(grant, begun.start);
    return begun?.start ?? null;
  }

  targets(streamId: string): Promise<readonly RestreamTarget[]> {
    return targetsToForward(this.#deps.db, streamId);
  }

  hasLease(): boolean {
    return this.#deps.node.isSteady;
  }

  refused(attempt: RefusedAttempt): void {
    this.#deps.refusals.note(attempt);
  }

  /** A node that misses it compares what it holds with the rows at its next heartbeat. */
  #tellMoved({ streamId, epoch }: PublishGrant, { sessionId }: SessionStart): void {
    const { node, log, mediaControl } = this.#deps;
    mediaControl
      .moved({ streamId, sessionId, epoch, nodeId: node.id, address: node.address })
      .catch((error: unknown) => {
        log.warn({ err: error, streamId }, "could not tell the other nodes that a stream moved here");
      });
  }

  /**
   * One statement for every key: it numbers the attempt at a stream that may publish, reads a stream that may not, and finds nothing otherwise.
   * Numbers follow the database's clock, so that a database that lost its last rows in a failover gives none out twice.
   */
  async #numberAttempt(streamKey: string): Promise<GrantRow | undefined> {
    const { rows } = await sql<GrantRow>`
      with found as (
        select s.id, s.project_id, s.playback_id, s.suspended or a.suspended as suspended
        from stream s join account a on a.id = s.user_id where s.stream_key = ${streamKey} and s.deleted_at is null
      ), granted as (
        update stream s set grant_epoch = greatest(s.grant_epoch + 1, s.epoch + 1, extract(epoch from clock_timestamp())::numeric * 1000)::bigint
        from found f where s.id = f.id and not f.suspended returning s.id, s.grant_epoch as epoch
      )
      select f.id, f.project_id, f.playback_id, g.epoch from found f left join granted g on g.id = f.id`.execute(
      this.#deps.db,
    );
    return rows[0];
  }

  #refuse({ protocol, remoteAddress }: PublishRequest, reason: PublishRefusal): PublishDecision {
    this.#deps.log.info({ protocol, remoteAddress, reason }, "a publisher was refused");
    return { ok: false, reason };
  }
}

/** Null for a stream that shows its last picture because it has no image. */
async function findSlateImage(trx: Trx, streamId: string): Promise<Buffer | null> {
  const row = await trx.selectFrom("slate_image").select("image").where("stream_id", "=", streamId).executeTakeFirst();
  return row?.image ?? null;
}

/** The documented default ladder, as stored when a stream specifies none. */
function isDefaultLadder(profiles: readonly Profile[]): boolean {
  return isDeepStrictEqual(profiles, DEFAULT_PROFILES);
}

function seedOf(stream: LiveStream, dvrMaxHours: number) {
  const { id, owner, name, profiles, record, recordingSpec, dvrMinutes } = stream;
  const mostSeconds = dvrMaxHours * 3600;
  const dvrSeconds = dvrMinutes !== null ? Math.min(dvrMinutes * 60 || mostSeconds, mostSeconds) : null;
  return { streamId: id, owner, name, profiles, record, recordingSpec, dvrSeconds };
}
