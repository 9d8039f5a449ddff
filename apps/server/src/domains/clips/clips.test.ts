import type { Asset, CreatedClip, Session, Task } from "@weir/contract";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import type { AssetLedger, ClipWork, MediaFact, MediaIndex, PublishGrant, RecordedSegment } from "../../ports/index.ts";
import type { Principal } from "../api/index.ts";
import { projectRoom } from "../assets/index.ts";
import { addProject } from "../domain-test-kit.ts";
import { EventLog } from "../events/index.ts";
import { newId } from "../ids.ts";
import { ended, kit, publish, segment, setUpLiveRig, stream, tell } from "../live-test-rig.ts";
import { clipProcessor } from "./clip-processor.ts";
import { ClipService, type ClipServiceDeps } from "./clip-service.ts";

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

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

/** What happens while the job of a clip runs. */
interface Meanwhile {
  /** The media floor is asked to store the session. */
  onSeal?(sessionId: string, untilMs: number): void;
  /** What it has kept of the live window. */
  onWindow?(prefix: string): MediaIndex | null;
  /** The job waits for the nth time. */
  onWait?(n: number): Promise<void>;
}

/** Runs the job of a clip. Time passes whenever it waits. */
async function run(assetId: string, { onSeal, onWindow, onWait }: Meanwhile = {}) {
  const made: ClipWork[] = [];
  const failures: string[] = [];
  let waits = 0;
  const clock: Clock = {
    now: () => kit.clock.now(),
    monotonic: () => kit.clock.monotonic(),
    every: (ms, action) => kit.clock.every(ms, action),
    after(ms, action) {
      const timer = kit.clock.after(ms, action);
      void Promise.resolve(onWait?.(++waits)).then(() => setImmediate(() => kit.clock.advance(ms)));
      return timer;
    },
  };
  const processor = clipProcessor(
    {
      ...{ db: kit.db, clock, log: silentLog, events: new EventLog() },
      mediaControl: { sealRecording: async (sessionId, untilMs) => onSeal?.(sessionId, untilMs) },
      clipMaker: {
        make: async (work) => void made.push(work),
        findWindow: async (prefix) => onWindow?.(prefix) ?? null,
        dropWindow: async (prefix) => void failures.push(`dropped ${prefix}`),
      },
    },
    { process: async () => void failures.push("was no clip") },
  );
  const ledger = { failed: async (_id: string, sentence: string) => void failures.push(sentence) };
  await processor.process(assetId, ledger as unknown as AssetLedger, new AbortController().signal);
  return { made, failures };
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

  it("while live, waits for the segment that holds its end to be durable", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    const { asset } = (await clip({ playbackId: stream.playbackId, startTime: startedAt + 500 })).json<CreatedClip>();
    const asked: unknown[] = [];
    const { made, failures } = await run(asset.id, {
      onSeal: (...about) => void asked.push(about),
      onWait: async (n) => void (n === 3 && (await seal(grant, sessionId, "1-0000000003.m4s"))),
    });
    expect([failures, asked]).toEqual([[], [[sessionId, startedAt + 6_000]]]);
    expect(made).toMatchObject([{ assetId: asset.id, fromMs: startedAt + 500, toMs: Number.MAX_SAFE_INTEGER }]);
    expect(made[0]?.parent.renditions.map(({ segments }) => segments.length)).toEqual([3, 3]);
    expect(made[0]?.outPrefix).toMatch(`/asset/${asset.id}/out/1/`);
  });

  it("from the middle of a long recording reads its own segments alone", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    const later = Array.from({ length: 600 }, (_, n) => {
      const fact = segment(grant, sessionId, n + 4, "1-0000000003.m4s");
      const at = startedAt + (n + 3) * 2_000;
      return { ...fact, recorded: fact.recorded.map((row) => ({ ...row, programDateTimeMs: at })) };
    });
    await tell(kit.domains, ...later);
    await seal(grant, sessionId, "1-0000000003.m4s");
    kit.clock.advance(1_200_000);
    const body = { playbackId: stream.playbackId, startTime: startedAt + 600_500, endTime: startedAt + 610_500 };
    const { asset } = (await clip(body)).json<CreatedClip>();
    const { made } = await run(asset.id, { onSeal: () => expect.unreachable("it is stored") });
    const numbers = made[0]?.parent.renditions.map(({ segments }) => segments.map(({ msn }) => msn));
    expect(numbers).toEqual([upTo(301, 307), upTo(301, 307)]);
  });

  it("waits for a rung that is behind the source, and not for one that has stopped", async () => {
    const { grant, sessionId, startedAt } = await broadcast();
    const rung = { ...segment(grant, sessionId, 1, "1-0000000001.m4s").recorded[0], rendition: "rung-1" };
    const { streamId, epoch } = grant;
    const rungs = (recorded: RecordedSegment[]): MediaFact => ({
      type: "rungs-recorded",
      streamId,
      epoch,
      at: kit.clock.now(),
      sessionId,
      bytes: 4_000,
      recorded,
    });
    await tell(kit.domains, rungs([{ ...rung, programDateTimeMs: startedAt } as RecordedSegment]));
    const body = { playbackId: stream.playbackId, startTime: startedAt, endTime: startedAt + 3_500 };
    const { asset } = (await clip(body)).json<CreatedClip>();
    let waits = 0;
    const span = { type: "span-sealed", streamId, epoch, at: kit.clock.now(), sessionId, bytes: 4_000 } as const;
    await run(asset.id, {
      onWait: async (n) => {
        waits = n;
        if (n === 2) await tell(kit.domains, { ...span, rendition: "rung-1", span: "1-0000000001.m4s" });
      },
    });
    expect(waits).toBe(2);
  });

  it("waits 12 s at most, and is made of what is durable then", async () => {
    const { startedAt } = await broadcast();
    const { asset } = (await clip({ playbackId: stream.playbackId, startTime: startedAt })).json<CreatedClip>();
    const { made } = await run(asset.id);
    expect(made[0]?.parent.renditions.map(({ segments }) => segments.length)).toEqual([2, 2]);
  });

  it.each([-3_600_000, 3_600_000])("waits as long where the clock is set by %i ms meanwhile", async (step) => {
    const { startedAt } = await broadcast();
    const { asset } = (await clip({ playbackId: stream.playbackId, startTime: startedAt })).json<CreatedClip>();
    const began = kit.clock.monotonic();
    const { made } = await run(asset.id, { onWait: async (n) => void (n === 2 && kit.clock.stepWall(step)) });
    if (step < 0) kit.clock.stepWall(-step);
    expect(made).toHaveLength(1);
    expect(kit.clock.monotonic() - began).toBe(12_000);
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
    expect(await run(asset.id)).toEqual({ made: [], failures: [expect.stringMatching(/too long: .* 4 hours/)] });
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
    const service = new ClipService({ ...kit, assetBytesPerProject: before } as unknown as ClipServiceDeps);
    const principal = { projectId: grant.projectId } as Principal;
    const body = { playbackId: stream.playbackId, startTime: startedAt };
    await expect(service.create(principal, body, "")).rejects.toThrow(/no room for a clip/);
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
    expect(kit.asked.windows.at(-1)).toMatchObject({
      ...{ sessionId, assetId: asset.id, fromMs: now - 5_000, toMs: now },
    });
    const window: MediaIndex = { id: sessionId, projectId: "p", keyPrefix: prefix, renditions: [] };
    let asked = 0;
    const { made, failures } = await run(asset.id, {
      onWindow: (at) => (at === prefix && ++asked === 3 ? window : null),
    });
    expect(made).toMatchObject([{ parent: window, fromMs: now - 5_000, toMs: now + 60_000 }]);
    expect(failures).toEqual([`dropped ${prefix}`]);
  });

  it("fails with a sentence where no media node kept the window", async () => {
    const { asset } = await unrecorded();
    const { made, failures } = await run(asset.id);
    expect([made, failures]).toEqual([[], [expect.stringMatching(/could not be kept: .* record the stream/)]]);
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

it("an asset that is no clip goes to the processor of files", async () => {
  const { asset } = (await kit.call("POST", "/api/asset/request-upload", { name: "file" })).json<CreatedClip>();
  expect((await run(asset.id)).failures).toEqual(["was no clip"]);
});
