import type { NewTranscode, Task } from "@weir/contract";
import { afterAll, expect, it } from "vitest";
import type { Job } from "../../platform/queue/job.ts";
import { type FileTranscoder, TaskFailed } from "../../ports/index.ts";
import { startTestDomains } from "../domain-test-kit.ts";
import { EventLog } from "../events/index.ts";
import { taskJob } from "../tasks/index.ts";
import { transcodeTask } from "./transcode-task.ts";
import { RETRYABLE_MS } from "./transcode-upkeep.ts";

const ACCESS_KEY = "AKIA-OF-THE-CUSTOMER";
const SECRET = "secret-of-the-customer";
const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET };
const storage = {
  type: "s3",
  endpoint: "https://s3.eu-central-1.amazonaws.com",
  bucket: "results",
  credentials,
} as const;
const REQUEST: NewTranscode = {
  input: { ...storage, bucket: "films", path: "/a/one.mov" },
  storage,
  outputs: { hls: { path: "/out/hls" }, mp4: { path: "out/mp4/" } },
  profiles: [{ name: "small", height: 240, bitrate: 300_000 }],
  creatorId: "me",
  c2pa: true,
};

/** Where files were removed from the object store. */
const removed: string[] = [];

async function start() {
  const kit = await startTestDomains();
  const store = { deletePrefix: async (prefix: string) => void removed.push(prefix) };
  const deps = { ...kit, events: new EventLog(), maxUploadBytes: 1_000, store };
  const request = async (body: unknown = REQUEST) => kit.call("POST", "/api/transcode", body);
  const task = async (id: string) => (await kit.call("GET", `/api/task/${id}`)).json<Task>();
  const run = async (taskId: string, transcode: FileTranscoder["transcode"], signal = new AbortController().signal) => {
    const job: Job = { id: "j", data: { taskId }, signal };
    await taskJob(deps, transcodeTask({ ...deps, fileTranscoder: { transcode } })).run(job);
  };
  const told = async (id: string) => {
    const rows = await kit.db
      .selectFrom("event_lifecycle")
      .select("data")
      .where("subject_id", "=", id)
      .orderBy("seq")
      .execute();
    return rows.map(({ data }) => (data as { event?: string }).event);
  };
  return { kit, request, task, run, told };
}

const { kit, request, task, run, told } = await start();
afterAll(() => kit[Symbol.asyncDispose]());

const SPEC = { format: "mp4", duration: 60, tracks: [] };

it("a task goes from waiting over running to completed, tells it, and forgets the credentials", async () => {
  const answer = await request();
  expect(answer.statusCode).toBe(200);
  const created = answer.json<Task>();
  expect(created).toMatchObject({ type: "transcode-file", status: { phase: "waiting" } });
  await run(created.id, async (work, { progressed }) => {
    expect(work).toMatchObject({
      input: { bucket: { bucket: "films", region: "eu-central-1", ...credentials }, key: "a/one.mov" },
      storage: { bucket: "results" },
      outputs: { hls: ["out/hls/"], mp4: ["out/mp4/"] },
      profiles: REQUEST.profiles,
      maxBytes: 1_000,
    });
    await progressed(0.5);
    expect((await task(created.id)).status).toMatchObject({ phase: "running", progress: 0.5 });
    return SPEC;
  });
  expect(await task(created.id)).toMatchObject({
    status: { phase: "completed" },
    output: { "transcode-file": { videoSpec: { duration: 60 } } },
  });
  expect(await told(created.id)).toEqual([
    ...["task.spawned", "task.updated", "task.updated", "task.updated", "task.completed"],
  ]);
  expect(await kit.db.selectFrom("transcode").selectAll().execute()).toEqual([]);
  expect(removed).toEqual([`v1/${created.projectId}/transcode/${created.id}/`]);
  const usage = await kit.db.selectFrom("usage_hour").select("transcoded_ms").execute();
  expect(usage.map((row) => Number(row.transcoded_ms))).toEqual([60_000]);
});

it("no answer, list, event or webhook holds a credential, nor the query of a signed address", async () => {
  const ids = [];
  for (const input of [REQUEST.input, { url: "https://example.com/a.mp4?X-Amz-Signature=signed-by-us" }]) {
    const answer = await request({ ...REQUEST, input });
    ids.push(answer.json<Task>().id);
    expect(answer.json<Task>().params).toEqual({
      "transcode-file": {
        input: {
          url:
            "url" in input
              ? "https://example.com/a.mp4?***"
              : "s3+https://***:***@s3.eu-central-1.amazonaws.com/films/a/one.mov",
        },
        storage: { url: "s3+https://***:***@s3.eu-central-1.amazonaws.com/results" },
        outputs: { hls: { path: "/out/hls" }, mp4: { path: "/out/mp4/" } },
        profiles: REQUEST.profiles,
        creatorId: { type: "unverified", value: "me" },
      },
    });
  }
  await run(ids[0] ?? "", async () => {
    throw new TaskFailed("The bucket is gone.", { isFinal: true });
  });
  const shown = [
    (await kit.call("GET", "/api/task")).body,
    ...(await Promise.all(ids.map(async (id) => (await kit.call("GET", `/api/task/${id}`)).body))),
    JSON.stringify(await kit.db.selectFrom("event_lifecycle").selectAll().execute()),
    JSON.stringify(await kit.db.selectFrom("task").selectAll().execute()),
  ];
  for (const text of shown) expect(text).not.toMatch(new RegExp(`${ACCESS_KEY}|${SECRET}|signed-by-us`));
});

it("a final failure is told in its words; one that may pass is tried five times; a retry begins to count anew", async () => {
  const { id } = (await request()).json<Task>();
  const away = () => Promise.reject(new TaskFailed("The bucket does not answer.", { isFinal: false }));
  for (let runs = 1; runs < 5; runs++) await expect(run(id, away)).rejects.toThrow("does not answer");
  expect((await task(id)).status.phase).toBe("running");
  await run(id, away);
  expect((await task(id)).status).toMatchObject({ phase: "failed", errorMessage: "The bucket does not answer." });
  expect((await told(id)).at(-1)).toBe("task.failed");
  expect(removed.filter((prefix) => prefix.includes(id))).toHaveLength(1);
});

it("a failed task is retried with its credentials for a week, then no more", async () => {
  const refused = () => Promise.reject(new TaskFailed("There is no bucket.", { isFinal: true }));
  const { id } = (await request()).json<Task>();
  expect((await kit.call("POST", `/api/task/${id}/retry`)).statusCode).toBe(422);
  await run(id, refused);
  const retried = await kit.call("POST", `/api/task/${id}/retry`);
  expect(retried.json<Task>().status).toMatchObject({ phase: "waiting", retries: 1 });
  await run(id, async (work) => {
    expect(work).toMatchObject({ attempt: 2, storage: credentials });
    return refused();
  });
  const longAgo = kit.clock.now() - RETRYABLE_MS;
  await kit.db.updateTable("task").set({ updated_at: longAgo }).where("id", "=", id).execute();
  await kit.domains.housekeeping.tick();
  expect((await task(id)).status.phase).toBe("failed");
  const late = await kit.call("POST", `/api/task/${id}/retry`);
  expect([late.statusCode, late.body]).toEqual([422, expect.stringContaining("no longer kept")]);
});

it("what cannot be done is refused in words", async () => {
  const cases: readonly [object, number, RegExp][] = [
    [{ storage: { type: "web3.storage", credentials: { proof: "x" } } }, 400, /cannot be written to web3\.storage/],
    [{ outputs: {} }, 400, /names nothing to make/],
    [{ outputs: { hls: { path: "a/../b" } } }, 400, /must not hold/],
    [{ input: { url: "ipfs://bafy" } }, 400, /cannot be fetched from this url/],
    [{ input: { url: "https://user:pass@example.com/a" } }, 400, /user name or password/],
    [{ input: { ...storage, path: "/" } }, 400, /names no file/],
    [{ storage: { ...storage, endpoint: "https://example.com:22" } }, 400, /endpoint of the storage cannot be called/],
    [{ profiles: [] }, 400, /at least one profile/],
    [{ storage: { ...storage, credentials: {} } }, 422, /./],
    [{ surprise: 1 }, 422, /./],
  ];
  for (const [change, status, words] of cases) {
    const answer = await request({ ...REQUEST, ...change });
    expect([change, answer.statusCode, answer.body]).toEqual([change, status, expect.stringMatching(words)]);
    expect(answer.body).not.toContain(SECRET);
  }
});

it("a project has a hundred files in work at most", async () => {
  const { projectId, requesterId } = (await request()).json<Task>();
  const owner = { project_id: projectId, user_id: requesterId ?? "" };
  const ids = Array.from({ length: 100 }, () => crypto.randomUUID());
  const times = { created_at: 1, updated_at: 1 };
  await kit.db
    .insertInto("task")
    .values(ids.map((id) => ({ id, ...owner, ...times, type: "transcode-file", phase: "waiting", params: "{}" })))
    .execute();
  await kit.db
    .insertInto("transcode")
    .values(ids.map((id) => ({ id, project_id: projectId, request: JSON.stringify(REQUEST), created_at: 1 })))
    .execute();
  expect((await request()).statusCode).toBe(429);
});
