import type { Task } from "@weir/contract";
import { sql } from "kysely";
import { afterAll, expect, it, onTestFinished } from "vitest";
import type { Job } from "../../platform/queue/job.ts";
import { type ExportWork, type FileExporter, TaskFailed } from "../../ports/index.ts";
import { startTestDomains } from "../domain-test-kit.ts";
import { EventLog } from "../events/index.ts";
import { newId } from "../ids.ts";
import { taskJob } from "../tasks/index.ts";
import { exportTask } from "./export-task.ts";

const SECRET = "secret-of-the-customer";
const CUSTOM = {
  url: "https://archive.example.com/film.mov?X-Amz-Signature=signed-by-us",
  method: "put",
  headers: { Authorization: `Bearer ${SECRET}` },
};

const kit = await startTestDomains();
afterAll(() => kit[Symbol.asyncDispose]());

async function upload(): Promise<string> {
  return (await kit.call("POST", "/api/asset/request-upload", { name: "film" })).json().asset.id;
}

/** An asset as processing leaves it. */
async function readyAsset(): Promise<string> {
  const id = await upload();
  const set = { phase: "ready", playable_at: kit.clock.now() } as const;
  const { project_id: projectId } = await kit.db
    .updateTable("asset")
    .set(set)
    .where("id", "=", id)
    .returning("project_id")
    .executeTakeFirstOrThrow();
  const media = JSON.stringify({ id, projectId, keyPrefix: "v1/x/", renditions: [], mp4s: [] });
  await kit.db.insertInto("asset_media").values({ asset_id: id, media }).execute();
  return id;
}

const request = (assetId: string, body: unknown = { custom: CUSTOM }) =>
  kit.call("POST", `/api/asset/${assetId}/export`, body);
const spawned = async (assetId: string) => (await request(assetId)).json<{ task: Task }>().task;
const task = async (id: string) => (await kit.call("GET", `/api/task/${id}`)).json<Task>();

/** One run of the task's job. */
async function run(taskId: string, send: FileExporter["send"], signal = new AbortController().signal): Promise<void> {
  const deps = { ...kit, events: new EventLog(), fileExporter: { send } };
  const { mediaCatalogue: catalogue } = kit.domains;
  const job: Job = { id: "j", data: { taskId }, signal };
  await taskJob(deps, exportTask({ ...deps, catalogue })).run(job);
}

async function told(id: string): Promise<unknown[]> {
  const rows = await kit.db
    .selectFrom("event_lifecycle")
    .select("data")
    .where("subject_id", "=", id)
    .orderBy("seq")
    .execute();
  return rows.map(({ data }) => (data as { event?: string }).event);
}

it("an asset's file goes to the customer's address: the task tells its progress, and forgets the headers", async () => {
  const assetId = await readyAsset();
  const answer = await request(assetId);
  expect(answer.statusCode).toBe(201);
  const { id } = answer.json<{ task: Task }>().task;
  const sent: ExportWork[] = [];
  await run(id, async (work, { progressed }) => {
    sent.push(work);
    await progressed(0.5);
    expect((await task(id)).status).toMatchObject({ phase: "running", progress: 0.5 });
  });
  const headers = { authorization: `Bearer ${SECRET}` };
  expect(sent).toMatchObject([{ url: CUSTOM.url, method: "PUT", headers, media: { id: assetId } }]);
  const { output, ...done } = await task(id);
  expect(done).toMatchObject({ type: "export", inputAssetId: assetId, status: { phase: "completed" } });
  expect(output).toBe(undefined);
  expect(await told(id)).toEqual([
    ...["task.spawned", "task.updated", "task.updated", "task.updated", "task.completed"],
  ]);
  expect(await kit.db.selectFrom("transcode").selectAll().where("id", "=", id).execute()).toEqual([]);
});

it("no answer, list, event, log or error holds a header's value, nor the query of a signed address", async () => {
  const created = await request(await readyAsset());
  const { id, params } = created.json<{ task: Task }>().task;
  expect(params).toEqual({
    export: {
      custom: { url: "https://archive.example.com/film.mov?***", method: "PUT", headers: { authorization: "***" } },
    },
  });
  await run(id, async () => {
    throw new TaskFailed("The file could not be exported: the receiver answered 404.", { isFinal: true });
  });
  const shown = [
    created.body,
    (await kit.call("GET", "/api/task")).body,
    (await kit.call("GET", `/api/task/${id}`)).body,
    JSON.stringify(await kit.db.selectFrom("event_lifecycle").selectAll().execute()),
    JSON.stringify(await kit.db.selectFrom("task").selectAll().execute()),
  ];
  for (const text of shown) expect(text).not.toMatch(new RegExp(`${SECRET}|signed-by-us`));
});

it("a run that a kill cut off is done again from the start; five that break off end the task, and a retry begins anew", async () => {
  const { id } = await spawned(await readyAsset());
  const stopped = new AbortController();
  const cutOff = run(
    id,
    async () => {
      stopped.abort();
      throw new Error("the process stops");
    },
    stopped.signal,
  );
  await expect(cutOff).rejects.toThrow("the process stops");
  expect((await task(id)).status.phase).toBe("running");
  const away = () => Promise.reject(new TaskFailed("The receiver answered 503.", { isFinal: false }));
  for (let runs = 1; runs < 5; runs++) await expect(run(id, away)).rejects.toThrow("503");
  await run(id, away);
  expect((await task(id)).status).toMatchObject({ phase: "failed", errorMessage: "The receiver answered 503." });
  const retried = await kit.call("POST", `/api/task/${id}/retry`);
  expect(retried.json<Task>().status).toMatchObject({ phase: "waiting", retries: 1 });
  await run(id, async ({ headers }) => expect(headers).toEqual({ authorization: `Bearer ${SECRET}` }));
  expect((await task(id)).status.phase).toBe("completed");
});

it("an asset that is deleted before its export fails honestly, and nothing is sent", async () => {
  const assetId = await readyAsset();
  const { id } = await spawned(assetId);
  await kit.call("DELETE", `/api/asset/${assetId}`);
  await run(id, () => Promise.reject(new Error("it should not come to this")));
  expect((await task(id)).status).toMatchObject({ phase: "failed", errorMessage: expect.stringMatching(/deleted/) });
});

it("what cannot be exported, and where to, is refused in words", async () => {
  const notReady = await request(await upload());
  expect([notReady.statusCode, notReady.json().code]).toEqual([412, "not-ready"]);
  expect((await request(newId())).statusCode).toBe(404);
  const assetId = await readyAsset();
  const custom = (change: object) => ({ custom: { ...CUSTOM, ...change } });
  const cases: readonly [unknown, number, RegExp][] = [
    [{ ipfs: {} }, 501, /nothing to IPFS/],
    [{}, 400, /no place to export to/],
    [custom({ url: "ftp://example.com/a" }), 422, /must be an address/],
    [custom({ url: "https://user:pass@example.com/a" }), 400, /user name or password/],
    [custom({ url: "https://example.com:22/a" }), 400, /cannot be exported to this url/],
    [custom({ method: "DELETE" }), 400, /PUT or POST/],
    [custom({ headers: { "Content-Length": "1" } }), 400, /must not set content-length/],
    [custom({ headers: { Host: "internal" } }), 400, /must not set host/],
    [custom({ headers: { "transfer-encoding": "chunked" } }), 400, /must not set transfer-encoding/],
    [custom({ headers: { "a b": SECRET } }), 400, /no header can have/],
    [custom({ headers: { a: `${SECRET}\r\nx: y` } }), 400, /headers\.a holds characters/],
    [custom({ headers: { a: SECRET, A: SECRET } }), 400, /names a twice/],
    [custom({ headers: { a: SECRET.repeat(300), b: SECRET.repeat(300) } }), 400, /8 KiB together/],
    [custom({ surprise: 1 }), 422, /surprise/],
  ];
  for (const [body, status, words] of cases) {
    const answer = await request(assetId, body);
    expect([body, answer.statusCode, answer.json().message]).toEqual([body, status, expect.stringMatching(words)]);
    expect(answer.body).not.toContain(SECRET);
  }
});

it("a key that stands in a web page exports what every viewer may download, and nothing else", async () => {
  const access = { cors: { allowedOrigins: ["https://app.test"] } };
  const signIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
  const dashboard = { cookie: String(signIn.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
  const made = await kit.call("POST", "/api/api-token", { name: "page", access }, dashboard);
  const page = { authorization: `Bearer ${made.json().key}` };
  const byPage = (id: string) => kit.call("POST", `/api/asset/${id}/export`, { custom: CUSTOM }, page);
  const assetId = await readyAsset();
  expect((await byPage(assetId)).statusCode).toBe(201);
  const gated = await readyAsset();
  const policy = JSON.stringify({ type: "jwt" });
  await kit.db.updateTable("asset").set({ playback_policy: policy }).where("id", "=", gated).execute();
  const refused = await byPage(gated);
  expect([refused.statusCode, refused.json().message]).toEqual([403, expect.stringMatching(/every viewer/)]);
  expect((await request(gated)).statusCode).toBe(201);
  await kit.db.updateTable("project").set({ originals_for_keys_only: true }).execute();
  onTestFinished(
    async () => void (await kit.db.updateTable("project").set({ originals_for_keys_only: false }).execute()),
  );
  expect((await byPage(assetId)).statusCode).toBe(403);
  expect((await request(assetId)).statusCode).toBe(201);
});

it("a task that lost its job to a kill is queued again as what it is", async () => {
  const { id } = await spawned(await readyAsset());
  await sql`delete from weir_jobs.job where data->>'taskId' = ${id}`.execute(kit.db);
  kit.clock.advance(61_000);
  kit.domains.jobs.start(kit.processors);
  await kit.domains.housekeeping.tick();
  await expect.poll(() => kit.asked.exports.map(({ taskId }) => taskId)).toContain(id);
  await expect.poll(async () => (await task(id)).status.phase).toBe("completed");
});
