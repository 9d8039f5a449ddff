import type { Asset, CreatedClip, Session, Task } from "@weir/contract";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../platform/log.ts";
import type {
  ClipMoments,
  ClipWork,
  MediaFact,
  MediaIndex,
  PublishGrant,
  StoreAnswer,
  StoredTrack,
} from "../../ports/index.ts";
import type { Principal } from "../api/index.ts";
import { projectRoom } from "../assets/index.ts";
import { addProject } from "../domain-test-kit.ts";
import { EventLog } from "../events/index.ts";
import { newId } from "../ids.ts";
import { ended, kit, publish, segment, setUpLiveRig, stream, tell } from "../live-test-rig.ts";
import { taskJob } from "../tasks/index.ts";
import { type ClipDeps, createClip } from "./clip-service.ts";
import { recordedSource } from "./clip-source.ts";
import { findClip } from "./clip-store.ts";
import { clipTask } from "./clip-task.ts";

setUpLiveRig();

const clip = (body: object, headers?: Record<string, string>) => kit.call("POST", "/api/clip", body, headers);
const lists = async (path: string): Promise<string[]> =>
  (await kit.call("GET", path)).json<Asset[]>().map(({ id }) => id);

/** A broadcast with three segments of 2 s of which the first two are durable. */
async function broadcast() {
  // Clips of the test before are no longer counted.
  kit.clock.advance(300_000);
  const { grant, start } = await publish();
  const { sessionId } = start;
  const startedAt = kit.clock.now();
  for (const msn of [1, 2, 3]) {
    const fact = segment(grant, sessionId, msn, msn < 3 ? "1-0000000001.m4s" : "1-0000000003.m4s");
    const at = startedAt + (msn - 1) * 2_000;
    await tell(kit.domains, { ...fact, recorded: fact.recorded.map((row) => ({ ...row, programDateTimeMs: at })) });
    kit.clock.advance(2_000);
  }
  await seal(grant, sessionId, "1-0000000001.m4s");
  return { grant, sessionId, startedAt };
}

async function seal({ streamId, epoch }: PublishGrant, sessionId: string, span: string): Promise<void> {
  const fact = { type: "span-sealed", streamId, epoch, at: kit.clock.now(), sessionId, span, bytes: 4_000 } as const;
  await tell(kit.domains, ...["source", "audio"].map((rendition): MediaFact => ({ ...fact, rendition })));
}

/** The media floor, while the job of a clip runs. */
interface MediaFloor {
  /** Is asked to store moments. */
  onStore?(moments: ClipMoments): Promise<StoreAnswer>;
  /** What it has kept of the live window. */
  onWindow?(prefix: string): MediaIndex | null;
}

/** Runs the job of a clip. */
async function run(assetId: string, { onStore, onWindow }: MediaFloor = {}) {
  const made: ClipWork[] = [];
  const dropped: string[] = [];
  const deps = { db: kit.db, clock: kit.clock, log: silentLog, events: new EventLog() };
  const task = clipTask({
    ...deps,
    accessChanged: async () => {},
    mediaControl: { storeMoments: async (moments) => (await onStore?.(moments)) ?? "stored" },
    clipMaker: {
      async make(work) {
        made.push(work);
        const { assetId: id, projectId, outPrefix: keyPrefix } = work;
        const source = { rendition: "source", segments: [], spanBytes: new Map([["1-1.m4s", 7]]) };
        const renditions = [{ ...source, track: {} as StoredTrack }];
        return {
          spec: { format: "mp4", duration: 1, tracks: [] },
          media: { id, projectId, keyPrefix, renditions, mp4s: [] },
        };
      },
      findWindow: async (prefix) => onWindow?.(prefix) ?? null,
      dropWindow: async (prefix) => void dropped.push(prefix),
    },
  });
  const { signal } = new AbortController();
  await taskJob(deps, task).run({ id: "j", data: { assetId }, signal });
  const { status, size } = (await kit.call("GET", `/api/asset/${assetId}`)).json<Asset>();
  return { made, failure: status.errorMessage, dropped, size };
}

describe("a clip of a recorded broadcast", () => {
  it("is an asset and a task, with the stream's policy and creator, in four lists", async () => {
    const { sessionId, startedAt } = await broadcast();
    await kit.call("PATCH", `/api/stream/${stream.id}`, { playbackPolicy: { type: "jwt" }, creatorId: "ada" });
    const { playbackId } = stream;
    const answer = await clip({ playbackId, startTime: startedAt + 500, endTime: startedAt + 3_000 });
    expect(answer.statusCode).toBe(200);
    const { asset, task } = answer.json<CreatedClip>();
    expect(asset).toMatchObject({
      name: `clip-${asset.playbackId}`,
      source: { type: "clip", playbackId, sessionId },
      status: { phase: "waiting" },
      playbackPolicy: { type: "jwt" },
      creatorId: { value: "ada" },
    });
    expect((await kit.call("GET", `/api/task/${task.id}`)).json<Task>()).toMatchObject({
      type: "clip",
      outputAssetId: asset.id,
      params: { clip: { sessionId, clipStrategy: { playbackId, startTime: startedAt + 500 } } },
    });
    // Long files take none of its places.
    const { rows: jobs } = await sql`
      select name from weir_jobs.job where data->>'assetId' = ${asset.id}`.execute(kit.db);
    expect(jobs).toEqual([{ name: "make-clip" }]);
    for (const path of [
      `session/${sessionId}/clips`,
      `stream/${stream.id}/clips`,
      `clip/${playbackId}`,
      `clip/${sessionId}`,
    ])
      expect(await lists(`/api/${path}`)).toEqual([asset.id]);
  });

  it("while live, is made of the segment that holds its end too, once the media floor has stored it", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    const { asset } = (await clip({ playbackId: stream.playbackId, startTime: startedAt + 500 })).json<CreatedClip>();
    const asked: ClipMoments[] = [];
    const { made, failure } = await run(asset.id, {
      async onStore(moments) {
        asked.push(moments);
        await seal(grant, sessionId, "1-0000000003.m4s");
        return "stored";
      },
    });
    const moments = { assetId: asset.id, projectId: grant.projectId, fromMs: startedAt + 500, toMs: startedAt + 6_000 };
    expect([failure, asked]).toEqual([undefined, [{ sessionId, ...moments }]]);
    expect(made).toMatchObject([{ assetId: asset.id, fromMs: startedAt + 500, toMs: Number.MAX_SAFE_INTEGER }]);
    expect(made[0]?.parent.renditions.map(({ segments }) => segments.length)).toEqual([3, 3]);
    expect(made[0]?.outPrefix).toMatch(`/asset/${asset.id}/out/1/`);
  });

  it("is not stored again where the recording is ready", async () => {
    const { sessionId, startedAt } = await broadcast();
    const { asset } = (await clip({ playbackId: stream.playbackId, startTime: startedAt })).json<CreatedClip>();
    await kit.db.updateTable("session").set({ recording: "ready" }).where("id", "=", sessionId).execute();
    const { made } = await run(asset.id, { onStore: () => expect.unreachable("it is stored") });
    expect(made).toHaveLength(1);
  });

  it("of 10 s of a running recording of 3 h reads at most twice its own rows, the first as the 51st", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    const lengthMs = 3 * 3_600_000;
    await sql`
      insert into recording_segment (session_id, project_id, user_id, rendition, msn, epoch, start_ticks, duration_ticks,
        program_date_time, discontinuity, gap, init, span, byte_offset, byte_length)
      select session_id, project_id, user_id, rendition, n, epoch, start_ticks, duration_ticks, ${startedAt}::bigint + (n - 1) * 2000,
        false, false, init, '1-0000000001.m4s', 0, 1
      from recording_segment s, generate_series(4, ${lengthMs / 2_000}::bigint) n
      where session_id = ${sessionId} and msn = 1`.execute(kit.db);
    await sql`analyze recording_segment`.execute(kit.db);
    kit.clock.advance(lengthMs);
    const readBy = async (startTime: number) => {
      const body = { playbackId: stream.playbackId, startTime, endTime: startTime + 10_000 };
      const { asset } = (await clip(body)).json<CreatedClip>();
      return kit.db.transaction().execute(async (trx) => {
        const row = await findClip(trx, asset.id);
        if (!row) return expect.unreachable("it is there");
        // Of this connection, which may have read in earlier transactions.
        const rowsRead = async (): Promise<number> => {
          const { rows } = await sql<{ read: string }>`
            select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
            where relname = 'recording_segment'`.execute(trx);
          return Number(rows[0]?.read);
        };
        const before = await rowsRead();
        const source = await recordedSource(trx, sessionId, row);
        const own = source?.parent.renditions.flatMap(({ segments }) => segments) ?? [];
        return { own: own.length, read: (await rowsRead()) - before };
      });
    };
    for (const hours of [0.5, 1.5, 2.9]) {
      const { own, read } = await readBy(startedAt + hours * 3_600_000 + 500);
      expect(own).toBe(12);
      expect(read).toBeGreaterThanOrEqual(own);
      expect(read).toBeLessThanOrEqual(2 * own);
    }
    const first = await readBy(startedAt + 3_600_500);
    // The others between them are finished: only a few may be in work.
    for (let nth = 5; nth <= 50; nth++) {
      await kit.db.updateTable("asset").set({ phase: "ready" }).where("phase", "=", "waiting").execute();
      const startTime = startedAt + nth * 60_000;
      const body = { playbackId: stream.playbackId, startTime, endTime: startTime + 10_000 };
      expect((await clip(body)).statusCode).toBe(200);
    }
    expect(await readBy(startedAt + 3_600_500)).toEqual(first);
    await tell(kit.domains, ended(grant, "clean-stop"));
  });

  it("is made of what is durable if no media process has the rest", async () => {
    const { startedAt } = await broadcast();
    const { asset } = (await clip({ playbackId: stream.playbackId, startTime: startedAt })).json<CreatedClip>();
    const { made } = await run(asset.id, { onStore: async () => "not-here" });
    expect(made[0]?.parent.renditions.map(({ segments }) => segments.length)).toEqual([2, 2]);
  });

  it("of what the object store did not take in time is not made of less, nor given up: the recording has it", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    const body = { playbackId: stream.playbackId, startTime: startedAt + 4_000, endTime: startedAt + 6_000 };
    const { asset } = (await clip(body)).json<CreatedClip>();
    const first = await run(asset.id, { onStore: async () => "failed" }).catch(() => ({ made: [] }));
    // Of a parent without segments the real clip maker says that nothing was recorded then, for good.
    expect(first.made).toEqual([]);
    await seal(grant, sessionId, "1-0000000003.m4s");
    const { made } = await run(asset.id);
    expect(made[0]?.parent.renditions.map(({ segments }) => segments.length)).toEqual([1, 1]);
  });

  it("can be told in time from the begin", async () => {
    const { grant, startedAt } = await broadcast();
    await tell(kit.domains, ended(grant, "clean-stop"));
    const body = { playbackId: stream.playbackId, startTime: 1_000, endTime: 2_500 };
    const { asset } = (await clip(body)).json<CreatedClip>();
    expect((await run(asset.id)).made).toMatchObject([{ fromMs: startedAt + 1_000, toMs: startedAt + 2_500 }]);
  });

  it("can be told in time from the begin behind a hole, which takes no time there", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    await seal(grant, sessionId, "1-0000000003.m4s");
    const fact = segment(grant, sessionId, 4, "1-0000000003.m4s");
    const at = startedAt + 60_000;
    await tell(kit.domains, { ...fact, recorded: fact.recorded.map((row) => ({ ...row, programDateTimeMs: at })) });
    await tell(kit.domains, ended(grant, "clean-stop"));
    const body = { playbackId: stream.playbackId, startTime: 5_000, endTime: 7_000 };
    const { asset } = (await clip(body)).json<CreatedClip>();
    expect((await run(asset.id)).made).toMatchObject([{ fromMs: startedAt + 5_000, toMs: startedAt + 61_000 }]);
  });

  it("fails where it would last more than four hours", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    await seal(grant, sessionId, "1-0000000003.m4s");
    const fact = segment(grant, sessionId, 4, "1-0000000003.m4s");
    const at = startedAt + 4 * 3_600_000;
    await tell(kit.domains, { ...fact, recorded: fact.recorded.map((row) => ({ ...row, programDateTimeMs: at })) });
    await tell(kit.domains, ended(grant, "clean-stop"));
    const { asset } = (await clip({ playbackId: stream.playbackId, startTime: startedAt })).json<CreatedClip>();
    expect(await run(asset.id)).toMatchObject({ made: [], failure: expect.stringMatching(/too long: .* 4 hours/) });
  });

  it("is refused where the project has no room, toward which its recordings count", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    const { sourceBytes, transcodedBytes } = (await kit.call("GET", `/api/session/${sessionId}`)).json<Session>();
    expect(sourceBytes + transcodedBytes).toBeGreaterThan(0);
    const stored = async () => 1e9 - ((await projectRoom(kit.db, grant.projectId, 1e9)) ?? 0);
    const before = await stored();
    await kit.db.updateTable("session").set({ recording: "deleted" }).where("id", "=", sessionId).execute();
    expect(before - (await stored())).toBe(sourceBytes + transcodedBytes);
    await kit.db.updateTable("session").set({ recording: "waiting" }).where("id", "=", sessionId).execute();
    const deps = { ...kit, assetBytesPerProject: before } as unknown as ClipDeps;
    const principal = { projectId: grant.projectId } as Principal;
    const body = { playbackId: stream.playbackId, startTime: startedAt };
    await expect(createClip(deps, principal, body, "")).rejects.toThrow(/no room for a clip/);
  });

  it("has a policy of its own where one is given", async () => {
    await broadcast();
    await kit.call("PATCH", `/api/stream/${stream.id}`, { playbackPolicy: { type: "jwt" } });
    const body = { playbackId: stream.playbackId, startTime: 0, playbackPolicy: { type: "public" } };
    expect((await clip(body)).json<CreatedClip>().asset.playbackPolicy).toEqual({ type: "public" });
  });
});

describe("a clip of a broadcast that is not recorded", () => {
  async function unrecorded() {
    kit.clock.advance(300_000);
    await kit.call("PATCH", `/api/stream/${stream.id}/record`, { record: false });
    const { grant, start } = await publish();
    kit.clock.advance(10_000);
    const now = kit.clock.now();
    const body = { playbackId: stream.playbackId, startTime: now - 5_000, endTime: now + 60_000 };
    const { asset } = (await clip(body)).json<CreatedClip>();
    return { asset, now, sessionId: start.sessionId, prefix: `v1/${grant.projectId}/asset/${asset.id}/window/` };
  }

  it("is cut from the live window, which is kept from the moment at which it is asked for", async () => {
    const { asset, now, sessionId, prefix } = await unrecorded();
    const moments = { sessionId, assetId: asset.id, fromMs: now - 5_000, toMs: now };
    expect(kit.asked.moments.at(-1)).toMatchObject(moments);
    const window: MediaIndex = { id: sessionId, projectId: "p", keyPrefix: prefix, renditions: [] };
    let isAnswered = false;
    const { made, dropped, size } = await run(asset.id, {
      async onStore(asked) {
        expect(asked).toMatchObject(moments);
        isAnswered = true;
        return "stored";
      },
      onWindow: (at) => (at === prefix && isAnswered ? window : null),
    });
    expect(made).toMatchObject([{ parent: window, fromMs: now - 5_000, toMs: now + 60_000 }]);
    expect(dropped).toEqual([prefix]);
    // It has no file that came, so its size is that of what was made.
    expect(size).toBe(7);
  });

  it("is cut from what was kept before the media process was started again", async () => {
    const { asset, sessionId, prefix } = await unrecorded();
    const window: MediaIndex = { id: sessionId, projectId: "p", keyPrefix: prefix, renditions: [] };
    const { made } = await run(asset.id, { onStore: async () => "not-here", onWindow: () => window });
    expect(made).toMatchObject([{ parent: window }]);
  });

  it("is made after all where the object store was away for the moment in which the window was kept", async () => {
    const { asset, sessionId, prefix } = await unrecorded();
    const window: MediaIndex = { id: sessionId, projectId: "p", keyPrefix: prefix, renditions: [] };
    // The store is back when the job looks for what was kept.
    const first = await run(asset.id, { onStore: async () => "failed" }).catch(() => null);
    expect(first?.failure).toBeUndefined();
    const { made } = await run(asset.id, { onStore: async () => "stored", onWindow: () => window });
    expect(made).toMatchObject([{ parent: window }]);
  });

  it("fails with a sentence where no media node kept the window", async () => {
    const { asset } = await unrecorded();
    const { made, dropped, failure } = await run(asset.id, { onStore: async () => "not-here" });
    expect([made, dropped, failure]).toEqual([
      [],
      [],
      expect.stringMatching(/could not be kept: .* record the stream/),
    ]);
  });
});

describe("no clip is made", () => {
  it.each<[string, object, number, string]>([
    ["of nothing", {}, 422, ""],
    ["that ends before it begins", { startTime: 5, endTime: 5 }, 422, "endTime must occur after startTime"],
    ["of more than four hours", { startTime: 1, endTime: 14_400_002 }, 422, "a clip may last 4 hours"],
    ["of unknown content", { playbackId: "abcd000000000000", startTime: 1 }, 404, "Content not found"],
    ["of something that is no playback id", { playbackId: "../x", startTime: 1 }, 404, "Content not found"],
    ["of an unknown session", { startTime: 1, sessionId: newId() }, 404, "Session not found"],
    ["of something that is no session", { startTime: 1, sessionId: "x" }, 404, "Session not found"],
    ["with a policy that is none", { startTime: 1, playbackPolicy: { type: "webhook" } }, 400, ""],
  ])("%s", async (_situation, body, status, text) => {
    await broadcast();
    const answer = await clip(Object.keys(body).length > 0 ? { playbackId: stream.playbackId, ...body } : {});
    expect([answer.statusCode, answer.json().errors[0]]).toEqual([status, expect.stringContaining(text)]);
  });

  it("of a stream that was never live, or is not recorded", async () => {
    const body = { playbackId: stream.playbackId, startTime: 1 };
    expect((await clip(body)).json().errors[0]).toMatch(/was never live/);
    await kit.call("PATCH", `/api/stream/${stream.id}/record`, { record: false });
    const { grant } = await publish();
    expect((await clip(body)).json().errors[0]).toMatch(/is not recorded, .* since the Unix epoch/);
    await tell(kit.domains, ended(grant, "clean-stop"));
    expect((await clip(body)).json().errors[0]).toMatch(/is over and was not recorded: set record to true/);
  });

  it("of another project's stream", async () => {
    await broadcast();
    const { apiKey } = await addProject(kit.db, `clips-${stream.id}`);
    const answer = await clip({ playbackId: stream.playbackId, startTime: 1 }, { authorization: apiKey });
    expect([answer.statusCode, answer.json().errors]).toEqual([404, ["Content not found"]]);
  });

  it("of many that are asked for at the same moment, but for five", async () => {
    await broadcast();
    const body = { playbackId: stream.playbackId, startTime: 0 };
    const answers = await Promise.all(Array.from({ length: 40 }, () => clip(body)));
    const made = answers.filter(({ statusCode }) => statusCode === 200);
    expect([made.length, answers.filter(({ statusCode }) => statusCode === 403).length]).toEqual([5, 35]);
  });

  it("while five others are being made", async () => {
    await broadcast();
    const body = { playbackId: stream.playbackId, startTime: 0 };
    for (let n = 0; n < 5; n++) expect((await clip(body)).statusCode).toBe(200);
    expect((await clip(body)).json()).toMatchObject({ errors: ["Too many clips are being processed."] });
    kit.clock.advance(300_000);
    expect((await clip(body)).statusCode).toBe(200);
  });
});
