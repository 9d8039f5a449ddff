import { isDeepStrictEqual } from "node:util";
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
import { ApiError, BadRequest, found, NotFound, NotImplemented, type Principal } from "../api/index.ts";
import type { EventDeps, NewEvent } from "../events/index.ts";
import { isId, newId, newPlaybackId, newStreamKey } from "../ids.ts";
import { applyToStream, isActive, lockLiveStreams } from "../live/index.ts";
import { resolveTargets, tellTargetsChanged } from "../multistream/index.ts";
import { updateOwned } from "../owned-row.ts";
import { changedPull, checkPull, endedPull, lockStreamsToPull, type PullKey, startPull } from "../pulls/index.ts";
import { deleteRecordings, refuseViewers } from "../recordings/index.ts";
import type { Owner, StreamRow, Trx } from "../schema.ts";
import { sessionsOfStreams } from "../sessions/index.ts";
import type { DomainConfig } from "../settings.ts";
import { readSlateImage, saveSlateImage } from "./slate-image.ts";
import { streamRecord } from "./stream-record.ts";
import {
  checkProfiles,
  checkRecordingSpec,
  checkTargets,
  checkUserTags,
  creatorValue,
  minutesOf,
  storedSlate,
} from "./stream-rules.ts";
import { countStreams, findStream, hasStreams, lockStream } from "./stream-store.ts";

export interface StreamServiceDeps extends EventDeps, Pick<DomainConfig, "streamsPerProject"> {
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
    await this.#check(principal, input);
    await this.#checkRoom(principal);
    const row = await this.#deps.db.transaction().execute((trx) => this.#insert(trx, principal, input));
    return streamRecord(row, this.#deps.clock.now());
  }

  /** Creates the stream of a source, or replaces the one that has the same value of `key`; either way it is pulled from then on. */
  async pull(principal: Principal, input: NewStream, key: PullKey): Promise<{ stream: Stream; isNew: boolean }> {
    if (!input.pull) throw new BadRequest("stream does not have a pull source");
    const value = key === "creatorId" ? input.creatorId && creatorValue(input.creatorId) : input.pull.source;
    if (!value) throw new BadRequest("creatorId is missing, by which the stream would be found");
    await this.#check(principal, input);
    const { db, clock, mediaControl } = this.#deps;
    const { row, isNew } = await db.transaction().execute(async (trx) => {
      const [same, other] = await lockStreamsToPull(trx, principal, key, value);
      if (other) throw new BadRequest(`several streams have this ${key}: delete all but one`);
      if (same) await this.#replace(trx, same, input);
      else await this.#checkRoom(principal);
      const row = same ?? (await this.#insert(trx, principal, input));
      const goesOn = isDeepStrictEqual(same?.pull, input.pull);
      await startPull(trx, principal, row.id, { at: clock.now(), goesOn });
      return { row, isNew: !same };
    });
    if (!isNew) {
      await this.#tryToTell([row.id], () => mediaControl.accessChanged(row.playback_id));
      await tellTargetsChanged(this.#deps, [row.id]);
    }
    return { stream: streamRecord(await this.find(principal, row.id), clock.now()), isNew };
  }

  async startPull(owner: Owner, id: string): Promise<void> {
    const { pull, suspended } = await this.find(owner, id);
    if (!pull) throw new BadRequest("stream does not have a pull source");
    if (suspended) throw suspendedStream();
    const start = { at: this.#deps.clock.now(), goesOn: false };
    await this.#deps.db.transaction().execute((trx) => startPull(trx, owner, id, start));
  }

  async patch(owner: Owner, id: string, patch: StreamPatch): Promise<void> {
    checkSrtPassphrase(patch);
    if (patch.pull) checkPull(patch.pull, this.#deps.outbound);
    const { playback_id: playbackId } = await this.find(owner, id);
    await checkPolicy(this.#deps.findAccessWebhook, owner.projectId, patch.playbackPolicy);
    const stops = await this.#deps.db.transaction().execute(async (trx) => {
      const row = await lockStream(trx, owner, id);
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
    await this.find(owner, id);
    if (typeof record !== "boolean") throw new BadRequest("record must be true or false");
    await this.patch(owner, id, { record });
  }

  async setSuspended(owner: Owner, id: string, suspended: boolean | undefined): Promise<void> {
    if (suspended === undefined) throw new ApiError(422, "missing-suspended", "missing suspended property");
    await this.patch(owner, id, { suspended });
  }

  /** `image` in base64; null takes it away. */
  async setSlateImage(owner: Owner, id: string, image: string | null): Promise<void> {
    await this.#deps.db.transaction().execute(async (trx) => {
      await lockStream(trx, owner, id);
      await saveSlateImage(trx, id, image === null ? null : readSlateImage(image));
    });
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
    if (!ids || ids.length === 0) throw new ApiError(422, "missing-ids", "missing ids");
    const unique = [...new Set(ids)];
    if (!unique.every(isId)) throw new NotFound();
    const { db, clock, mediaControl } = this.#deps;
    const playbackIds = await db.transaction().execute(async (trx) => {
      if ((await countStreams(trx, owner, unique)) !== unique.length) throw new NotFound();
      const changes = await this.#takeLeases(trx, unique, "deleted");
      for (const id of unique) await updateOwned(trx, "stream", owner, id, { deleted_at: clock.now() });
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
      const row = await lockStream(trx, owner, id);
      if (row.last_terminated_at !== null && now - Number(row.last_terminated_at) < TERMINATE_INTERVAL_MS) {
        throw new ApiError(429, "too-many-terminates", "too many terminate requests");
      }
      await this.#stop(trx, [id], "terminated");
      await updateOwned(trx, "stream", owner, id, { last_terminated_at: now, ...(row.pull_wanted && endedPull(now)) });
    });
    await this.#tellMedia([id], "terminated");
  }

  /** The old key is refused from now on. Its publisher is closed; within the reconnect window the session continues with the new key. */
  async rotateKey(owner: Owner, id: string): Promise<Stream> {
    const row = await this.#deps.db.transaction().execute(async (trx) => {
      await lockStream(trx, owner, id);
      await this.#stop(trx, [id], "key-rotated");
      await updateOwned(trx, "stream", owner, id, { stream_key: newStreamKey(id) });
      return found(await findStream(trx, owner, id));
    });
    await this.#tellMedia([id], "key-rotated");
    return streamRecord(row, this.#deps.clock.now());
  }

  async testBroadcast(owner: Owner, id: string, { seconds }: TestBroadcast): Promise<void> {
    const row = await this.find(owner, id);
    if (row.suspended) throw suspendedStream();
    const { projectId } = owner;
    if (!this.#testBroadcasts.take(projectId)) {
      const why = `${MAX_TEST_BROADCASTS} test broadcasts of this project are running: wait for one to end`;
      throw new ApiError(429, "too-many-test-broadcasts", why);
    }
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
      const row = await lockStream(trx, owner, id);
      await updateOwned(trx, "stream", owner, id, { targets: JSON.stringify(await change(trx, row)) });
    });
    await tellTargetsChanged(this.#deps, [id]);
  }

  async find(owner: Owner, id: string): Promise<StreamRow> {
    return found(await findStream(this.#deps.db, owner, id));
  }

  /** The rules of a body that describes a whole stream. */
  async #check(owner: Owner, input: NewStream): Promise<void> {
    const profiles = input.profiles ?? DEFAULT_PROFILES;
    checkProfiles(profiles);
    checkUserTags(input.userTags);
    checkRecordingSpec(input.recordingSpec, input.record ?? false);
    checkTargets(input.multistream?.targets ?? [], profiles);
    checkSrtPassphrase(input);
    if (input.pull) checkPull(input.pull, this.#deps.outbound);
    await checkPolicy(this.#deps.findAccessWebhook, owner.projectId, input.playbackPolicy);
  }

  async #checkRoom(owner: Owner): Promise<void> {
    const { db, streamsPerProject } = this.#deps;
    if (streamsPerProject > 0 && (await hasStreams(db, owner, streamsPerProject)))
      throw new ApiError(
        400,
        "too-many-streams",
        `a project may have ${streamsPerProject} streams: delete one that is not needed, or ask the operator to raise the limit`,
      );
  }

  async #insert(trx: Trx, principal: Principal, input: NewStream): Promise<StreamRow> {
    const now = this.#deps.clock.now();
    const id = newId();
    const values = {
      id,
      project_id: principal.projectId,
      user_id: principal.userId,
      created_by_token_name: principal.keyName,
      stream_key: newStreamKey(id),
      playback_id: newPlaybackId(id),
      created_at: now,
      state_since: now,
      ...(await this.#columnsOf(trx, principal, input)),
    };
    return trx.insertInto("stream").values(values).returningAll().executeTakeFirstOrThrow();
  }

  /** What the body does not name is cleared. */
  async #replace(trx: Trx, row: StreamRow, input: NewStream): Promise<void> {
    refuseWhileActive(row, { record: input.record ?? false, profiles: input.profiles ?? DEFAULT_PROFILES });
    const owner = { projectId: row.project_id, userId: row.user_id };
    await updateOwned(trx, "stream", owner, row.id, {
      ...(await this.#columnsOf(trx, owner, input)),
      suspended: false,
    });
  }

  async #columnsOf(trx: Trx, owner: Owner, input: NewStream) {
    const targets = input.multistream?.targets ?? [];
    return {
      name: input.name,
      record: input.record ?? false,
      profiles: JSON.stringify(input.profiles ?? DEFAULT_PROFILES),
      creator_id: input.creatorId === undefined ? null : creatorValue(input.creatorId),
      user_tags: json(input.userTags),
      playback_policy: json(input.playbackPolicy),
      recording_spec: json(storedSpec(input.recordingSpec)),
      retention_days: input.retentionDays ?? null,
      dvr_minutes: minutesOf(input.dvr),
      slate: storedSlate(input.slate),
      pull: json(input.pull),
      targets: JSON.stringify(await resolveTargets(this.#deps, trx, owner, targets)),
    };
  }

  async #change(trx: Trx, row: StreamRow, patch: StreamPatch): Promise<void> {
    const { record = row.record, suspended, name } = patch;
    const profiles = patch.profiles === null ? [...DEFAULT_PROFILES] : (patch.profiles ?? row.profiles);
    refuseWhileActive(row, { record, profiles: patch.profiles === undefined ? row.profiles : profiles });
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
      ...(patch.pull === undefined || isDeepStrictEqual(row.pull, patch.pull)
        ? {}
        : changedPull(row, patch.pull, this.#deps.clock.now())),
      ...(patch.dvr === undefined ? {} : { dvr_minutes: minutesOf(patch.dvr) }),
      ...(patch.slate === undefined ? {} : { slate: storedSlate(patch.slate) }),
      ...(patch.recordingSpec === undefined ? {} : { recording_spec: json(storedSpec(patch.recordingSpec)) }),
      ...(targets ? { targets: JSON.stringify(await resolveTargets(this.#deps, trx, owner, targets)) } : {}),
    };
    if (Object.keys(change).length > 0) await updateOwned(trx, "stream", owner, row.id, change);
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

/** Throws `NotImplemented`. */
function checkSrtPassphrase({ srtPassphrase }: Pick<NewStream, "srtPassphrase">): void {
  if (srtPassphrase)
    throw new NotImplemented(
      "a stream has no SRT passphrase of its own: set WEIR_SRT_PASSPHRASE, which all streams of this server share",
    );
}

/** These decide how a session is made, so they stay for as long as it lasts. */
function refuseWhileActive(
  row: StreamRow,
  { record, profiles }: Pick<StreamRow, "record"> & { profiles: unknown },
): void {
  if (!isActive(row.state)) return;
  if (record !== row.record) throw new BadRequest("cannot change 'record' field while stream is active");
  if (JSON.stringify(profiles) !== JSON.stringify(row.profiles))
    throw new BadRequest("cannot change 'profiles' field while stream is active");
}

const suspendedStream = () =>
  new ApiError(400, "stream-suspended", "a suspended stream takes no broadcast; send suspended: false first");
