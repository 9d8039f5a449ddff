import {
  DEFAULT_PROFILES,
  type NewStream,
  type NewTargetRef,
  type Stream,
  type StreamPatch,
  type TargetRef,
  type TestBroadcast,
} from "@weir/contract";
import { Places } from "../../platform/limits/places.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { MediaControl, StopReason } from "../../ports/index.ts";
import { checkPolicy, type FindAccessWebhook } from "../access-control/index.ts";
import { BadRequest, type ListRequest, NotFound, NotImplemented, type Page, type Principal } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog, NewEvent } from "../events/index.ts";
import { isId, newId, newPlaybackId, newStreamKey } from "../ids.ts";
import { applyToStream, isActive, lockLiveStreams } from "../live/index.ts";
import { resolveTargets, tellTargetsChanged } from "../multistream/index.ts";
import { deleteRecordings, refuseViewers } from "../recordings/index.ts";
import type { Owner, StreamRow, Trx } from "../schema.ts";
import { sessionsOfStreams } from "../sessions/index.ts";
import type { DomainConfig } from "../settings.ts";
import {
  MissingIds,
  MissingSuspended,
  TestBroadcastRefused,
  TooManyStreams,
  TooManyTerminates,
  TooManyTestBroadcasts,
} from "./stream-errors.ts";
import { streamRecord } from "./stream-record.ts";
import { checkProfiles, checkRecordingSpec, checkTargets, checkUserTags, creatorValue } from "./stream-rules.ts";
import {
  countStreams,
  findStream,
  findStreamBy,
  findStreamForUpdate,
  hasStreams,
  insertStream,
  listStreams,
  type StreamChoice,
  updateStream,
} from "./stream-store.ts";

export interface StreamServiceDeps extends Deps, Pick<DomainConfig, "streamsPerProject"> {
  readonly events: EventLog;
  readonly mediaControl: MediaControl;
  readonly reconnectWindowMs: number;
  readonly findAccessWebhook: FindAccessWebhook;
  readonly outbound: Pick<Outbound, "refusalOf">;
}

const TERMINATE_INTERVAL_MS = 5_000;
const TEST_BROADCAST_SECONDS = 60;
/** A media node runs four at a time; one project leaves some for others. */
const MAX_TEST_BROADCASTS = 2;
const MAX_TEST_BROADCASTS_IN_ALL = 1_000;

/** The rules of streams. A call that ends a broadcast first changes the database, then tells the media floor, which closes the publisher. */
export class StreamService {
  readonly #deps: StreamServiceDeps;
  readonly #testBroadcasts = new Places({ inAll: MAX_TEST_BROADCASTS_IN_ALL, perHolder: MAX_TEST_BROADCASTS });

  constructor(deps: StreamServiceDeps) {
    this.#deps = deps;
  }

  async create(principal: Principal, input: NewStream): Promise<Stream> {
    const now = this.#deps.clock.now();
    const profiles = input.profiles ?? [...DEFAULT_PROFILES];
    const targets = input.multistream?.targets ?? [];
    checkProfiles(profiles);
    checkUserTags(input.userTags);
    checkRecordingSpec(input.recordingSpec, input.record ?? false);
    checkTargets(targets, profiles);
    if (input.pull)
      throw new NotImplemented(
        "this server has no pulled streams yet: create the stream without pull, and publish to it",
      );
    await checkPolicy(this.#deps.findAccessWebhook, principal.projectId, input.playbackPolicy);
    const { db, streamsPerProject } = this.#deps;
    if (streamsPerProject > 0 && (await hasStreams(db, principal, streamsPerProject)))
      throw new TooManyStreams(streamsPerProject);
    const id = newId();
    const row = await db.transaction().execute(async (trx) =>
      insertStream(trx, {
        id,
        project_id: principal.projectId,
        user_id: principal.userId,
        created_by_token_name: principal.keyName,
        name: input.name,
        stream_key: newStreamKey(id),
        playback_id: newPlaybackId(id),
        record: input.record ?? false,
        created_at: now,
        state_since: now,
        profiles: JSON.stringify(profiles),
        creator_id: input.creatorId === undefined ? null : creatorValue(input.creatorId),
        user_tags: json(input.userTags),
        playback_policy: json(input.playbackPolicy),
        recording_spec: json(storedSpec(input.recordingSpec)),
        retention_days: input.retentionDays ?? null,
        pull: json(input.pull),
        targets: JSON.stringify(await resolveTargets(this.#deps, trx, principal, targets)),
      }),
    );
    return streamRecord(row);
  }

  async get(owner: Owner, id: string): Promise<Stream> {
    return streamRecord(await this.#find(owner, id));
  }

  async getBy(owner: Owner, column: "playback_id" | "stream_key", value: string): Promise<Stream> {
    const row = await findStreamBy(this.#deps.db, owner, column, value);
    if (!row) throw new NotFound();
    return streamRecord(row);
  }

  async list(owner: Owner, list: ListRequest, choice: StreamChoice): Promise<Page<Stream>> {
    const page = await listStreams(this.#deps.db, owner, list, choice);
    return { ...page, items: page.items.map(streamRecord) };
  }

  async patch(owner: Owner, id: string, patch: StreamPatch): Promise<void> {
    const { playback_id: playbackId } = await this.#find(owner, id);
    await checkPolicy(this.#deps.findAccessWebhook, owner.projectId, patch.playbackPolicy);
    const stops = await this.#deps.db.transaction().execute(async (trx) => {
      const row = await findStreamForUpdate(trx, owner, id);
      if (!row) throw new NotFound();
      await this.#change(trx, row, patch);
      if (patch.suspended !== true || row.suspended) return false;
      await this.#stop(trx, [id], "suspended");
      return true;
    });
    if (patch.playbackPolicy !== undefined || patch.suspended !== undefined) {
      await this.#tryToTell([id], () => this.#deps.mediaControl.accessChanged(playbackId));
    }
    if (stops) await this.#tellMedia([id], "suspended");
    else if (patch.multistream !== undefined) await tellTargetsChanged(this.#deps, [id]);
  }

  /** `record` is the value in the request. */
  async setRecord(owner: Owner, id: string, record: unknown): Promise<void> {
    await this.#find(owner, id);
    if (typeof record !== "boolean") throw new BadRequest("record must be true or false");
    await this.patch(owner, id, { record });
  }

  async setSuspended(owner: Owner, id: string, suspended: boolean | undefined): Promise<void> {
    if (suspended === undefined) throw new MissingSuspended();
    await this.patch(owner, id, { suspended });
  }

  async addTarget(owner: Owner, id: string, target: NewTargetRef): Promise<void> {
    await this.#changeTargets(owner, id, async (trx, { targets, profiles }) => {
      checkTargets([...targets, target], profiles);
      return [...targets, ...(await resolveTargets(this.#deps, trx, owner, [target]))];
    });
  }

  /** Without a `profile`, all that the target gets. Removing a target that the stream does not have succeeds. */
  async removeTarget(owner: Owner, id: string, targetId: string, profile: string | undefined): Promise<void> {
    await this.#changeTargets(owner, id, async (_trx, { targets }) =>
      targets.filter((ref) => ref.id !== targetId || (profile !== undefined && ref.profile !== profile)),
    );
  }

  /** Recordings of the streams stay, unless the request includes them. */
  async delete(owner: Owner, ids: readonly string[] | undefined, withRecordings: boolean): Promise<void> {
    if (!ids || ids.length === 0) throw new MissingIds();
    const unique = [...new Set(ids)];
    if (!unique.every(isId)) throw new NotFound();
    const { db, clock, mediaControl } = this.#deps;
    const playbackIds = await db.transaction().execute(async (trx) => {
      if ((await countStreams(trx, owner, unique)) !== unique.length) throw new NotFound();
      const changes = await this.#takeLeases(trx, unique, "deleted");
      for (const id of unique) await updateStream(trx, owner, id, { deleted_at: clock.now() });
      const sessionIds = withRecordings ? await sessionsOfStreams(trx, unique) : [];
      const recordings = await deleteRecordings(trx, sessionIds, clock.now());
      await this.#deps.events.append(trx, [...changes, ...recordings.events]);
      return recordings.playbackIds;
    });
    await this.#tellMedia(unique, "deleted");
    await this.#tryToTell(unique, () => refuseViewers(mediaControl, playbackIds));
  }

  async terminate(owner: Owner, id: string): Promise<void> {
    const now = this.#deps.clock.now();
    await this.#deps.db.transaction().execute(async (trx) => {
      const row = await findStreamForUpdate(trx, owner, id);
      if (!row) throw new NotFound();
      if (row.last_terminated_at !== null && now - Number(row.last_terminated_at) < TERMINATE_INTERVAL_MS) {
        throw new TooManyTerminates();
      }
      await this.#stop(trx, [id], "terminated");
      await updateStream(trx, owner, id, { last_terminated_at: now });
    });
    await this.#tellMedia([id], "terminated");
  }

  /** The old key is refused from now on. Its publisher is closed; within the reconnect window the session continues with the new key. */
  async rotateKey(owner: Owner, id: string): Promise<Stream> {
    const row = await this.#deps.db.transaction().execute(async (trx) => {
      if (!(await findStreamForUpdate(trx, owner, id))) throw new NotFound();
      await this.#stop(trx, [id], "key-rotated");
      await updateStream(trx, owner, id, { stream_key: newStreamKey(id) });
      return findStream(trx, owner, id);
    });
    if (!row) throw new NotFound();
    await this.#tellMedia([id], "key-rotated");
    return streamRecord(row);
  }

  async testBroadcast(owner: Owner, id: string, { seconds }: TestBroadcast): Promise<void> {
    const row = await this.#find(owner, id);
    if (row.suspended) throw new TestBroadcastRefused();
    const { projectId } = owner;
    if (!this.#testBroadcasts.take(projectId)) throw new TooManyTestBroadcasts(MAX_TEST_BROADCASTS);
    const length = seconds ?? TEST_BROADCAST_SECONDS;
    try {
      await this.#deps.mediaControl.startTestBroadcast(row.stream_key, length);
    } catch (error) {
      this.#testBroadcasts.giveBack(projectId);
      throw error;
    }
    // The broadcast may end sooner. Nothing tells this process, which may not be the one that runs it.
    this.#deps.clock.after(length * 1000, () => this.#testBroadcasts.giveBack(projectId));
  }

  async #changeTargets(
    owner: Owner,
    id: string,
    change: (trx: Trx, row: StreamRow) => Promise<TargetRef[]>,
  ): Promise<void> {
    await this.#deps.db.transaction().execute(async (trx) => {
      const row = await findStreamForUpdate(trx, owner, id);
      if (!row) throw new NotFound();
      await updateStream(trx, owner, id, { targets: JSON.stringify(await change(trx, row)) });
    });
    await tellTargetsChanged(this.#deps, [id]);
  }

  async #find(owner: Owner, id: string): Promise<StreamRow> {
    const row = await findStream(this.#deps.db, owner, id);
    if (!row) throw new NotFound();
    return row;
  }

  async #change(trx: Trx, row: StreamRow, patch: StreamPatch): Promise<void> {
    const active = isActive(row.state);
    const { record = row.record, suspended, name } = patch;
    const profiles = patch.profiles === null ? [...DEFAULT_PROFILES] : (patch.profiles ?? row.profiles);
    if (active && record !== row.record) throw new BadRequest("cannot change 'record' field while stream is active");
    if (active && patch.profiles !== undefined && JSON.stringify(profiles) !== JSON.stringify(row.profiles)) {
      throw new BadRequest("cannot change 'profiles' field while stream is active");
    }
    checkProfiles(profiles);
    checkUserTags(patch.userTags);
    checkRecordingSpec(patch.recordingSpec, record);
    const targets = patch.multistream?.targets;
    if (targets) checkTargets(targets, row.profiles);
    const owner = { projectId: row.project_id, userId: row.user_id };
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(suspended === undefined ? {} : { suspended }),
      ...(patch.record === undefined ? {} : { record }),
      ...(patch.profiles === undefined ? {} : { profiles: JSON.stringify(profiles) }),
      ...(patch.creatorId === undefined ? {} : { creator_id: creatorValue(patch.creatorId) }),
      ...(patch.userTags === undefined ? {} : { user_tags: json(patch.userTags) }),
      ...(patch.playbackPolicy === undefined ? {} : { playback_policy: json(patch.playbackPolicy) }),
      ...(patch.retentionDays === undefined ? {} : { retention_days: patch.retentionDays }),
      ...(patch.recordingSpec === undefined ? {} : { recording_spec: json(storedSpec(patch.recordingSpec)) }),
      ...(targets ? { targets: JSON.stringify(await resolveTargets(this.#deps, trx, owner, targets)) } : {}),
    };
    if (Object.keys(change).length > 0) await updateStream(trx, owner, row.id, change);
  }

  /** Revoke the leases of these streams, and end their sessions unless they wait for a new key. */
  async #stop(trx: Trx, ids: readonly string[], why: StopReason): Promise<void> {
    await this.#deps.events.append(trx, await this.#takeLeases(trx, ids, why));
  }

  /** The same without events, which must be appended last in the transaction. */
  async #takeLeases(trx: Trx, ids: readonly string[], why: StopReason): Promise<NewEvent[]> {
    const { clock, reconnectWindowMs } = this.#deps;
    const changes: NewEvent[] = [];
    for (const stream of (await lockLiveStreams(trx, ids)).values()) {
      changes.push(...(await applyToStream(trx, stream, why, { at: clock.now(), reconnectWindowMs })));
    }
    return changes;
  }

  async #tellMedia(ids: readonly string[], why: StopReason): Promise<void> {
    for (const id of ids) await this.#tryToTell([id], () => this.#deps.mediaControl.stop(id, why));
  }

  async #tryToTell(streamIds: readonly string[], tell: () => Promise<void>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      // The database already says so: the publisher's lease is gone, and the next query of a publisher or a viewer is refused.
      this.#deps.log.error({ err: error, streamIds }, "could not notify media nodes of a changed stream");
    }
  }
}

const json = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value));

/** Null profiles mean that the stream has none of its own. */
const storedSpec = (spec: NewStream["recordingSpec"]) => (spec?.profiles ? spec : spec && {});
