import type { Asset, RequestedUpload, Stream, Task } from "@weir/contract";
import { describe, expect, it, onTestFinished } from "vitest";
import { addProject, startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { sourceKeyOf } from "./upload-desk.ts";
import { mintUploadToken, readUploadToken } from "./upload-token.ts";

async function started(settings: Parameters<typeof startTestDomains>[0] = {}) {
  const kit = await startTestDomains(settings);
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const upload = async (name: string, more: object = {}): Promise<RequestedUpload> => {
    const answer = await kit.call("POST", "/api/asset/request-upload", { name, ...more });
    expect(answer.statusCode).toBe(200);
    return answer.json();
  };
  const get = async (id: string) => (await kit.call("GET", `/api/asset/${id}`)).json<Asset>();
  return { kit, upload, get };
}

const tokenOf = ({ url }: RequestedUpload) => new URL(url).searchParams.get("token");

/** The last byte of the file is there. */
async function arrive({ domains }: TestDomains, { asset }: RequestedUpload, bytes = 1_000) {
  const key = await domains.uploads.received(asset.id, bytes);
  await domains.uploads.stored(asset.id);
  return key;
}

describe("a requested upload", () => {
  it("is an asset, a task, and two addresses with a token for this asset alone", async () => {
    const { kit, upload } = await started();
    const requested = await upload("my clip", { playbackPolicy: { type: "public" }, creatorId: "me" });
    const { asset, task, url, tusEndpoint } = requested;
    expect(asset).toMatchObject({
      name: "my clip",
      source: { type: "directUpload" },
      status: { phase: "uploading", isPlayable: false },
      creatorId: { type: "unverified", value: "me" },
      playbackPolicy: { type: "public" },
    });
    expect(url).toMatch(/^http:\/\/weir\.test\/api\/asset\/upload\/direct\?token=/);
    expect(tusEndpoint).toMatch(/^http:\/\/weir\.test\/api\/asset\/upload\/tus\?token=/);
    const shown = (await kit.call("GET", `/api/task/${task.id}`)).json<Task>();
    expect(shown).toMatchObject({ type: "upload", outputAssetId: asset.id, status: { phase: "pending" } });
    expect(await kit.domains.uploads.admit(tokenOf(requested), 10)).toEqual({ id: asset.id, maxBytes: 1024 ** 3 });
  });

  it("has a token that ends, and is no other asset's", async () => {
    const { kit, upload } = await started();
    const [one, other] = [await upload("one"), await upload("other")];
    const { uploads } = kit.domains;
    await expect(uploads.admit(null, null)).rejects.toMatchObject({ status: 401 });
    const [, rest = ""] = tokenOf(one)?.split(/(?<=^[^.]*)\./) ?? [];
    await expect(uploads.admit(`${other.asset.id}.${rest}`, null)).rejects.toMatchObject({ status: 403 });
    await expect(uploads.admit("x".repeat(100_000), null)).rejects.toMatchObject({ status: 403 });
    const secret = new Uint8Array(32);
    const token = mintUploadToken(secret, one.asset.id, 1_000);
    expect([999, 1_000].map((now) => readUploadToken(secret, token, now))).toEqual([one.asset.id, null]);
  });

  it("belongs to the node that has its first bytes while that runs, and a file of another node replaces nothing", async () => {
    const { kit, upload } = await started();
    const requested = await upload("clip");
    const { id } = requested.asset;
    const here = kit.domains.uploads;
    const other = kit.another("other");
    await other.node.join();
    await here.admit(tokenOf(requested), 10);
    await expect(other.uploads.admit(tokenOf(requested), 10)).rejects.toMatchObject({ status: 409 });
    expect([await here.elsewhere(id), await other.uploads.elsewhere(id)]).toEqual([null, kit.domains.node.id]);
    expect([...(await here.wanted([id])), ...(await other.uploads.wanted([id]))]).toEqual([id]);
    await expect(other.uploads.received(id, 10)).rejects.toMatchObject({ status: 409 });
    expect(await here.received(id, 10)).toContain(`/asset/${id}/`);
    await expect(other.uploads.received(id, 99)).rejects.toMatchObject({ status: 409 });
    await other.uploads.stored(id);
    expect([...(await here.wanted([id]))]).toEqual([id]);

    // A broken upload is anybody's, and so is one of a node that is gone.
    const next = await upload("another clip");
    await here.admit(tokenOf(next), 10);
    await here.released(next.asset.id);
    await other.uploads.admit(tokenOf(next), 10);
    await other.node.leave();
    await here.admit(tokenOf(next), 10);
    await expect(other.uploads.received(next.asset.id, 10)).rejects.toMatchObject({ status: 409 });

    // A complete file of a process that is started no more.
    const last = await upload("a clip of a former process");
    await other.node.join();
    await other.uploads.admit(tokenOf(last), 10);
    await other.uploads.received(last.asset.id, 10);
    await other.node.leave();
    const isWanted = async () => (await here.wanted([last.asset.id])).has(last.asset.id);
    expect(await isWanted()).toBe(false);
    await here.adopt(["another"]);
    expect(await isWanted()).toBe(false);
    await here.adopt(["other"]);
    expect(await isWanted()).toBe(true);
    await arrive(kit, last, 10);
    await other.close();
  });

  it("waits for a worker when its file is there, and takes no other file", async () => {
    const { kit, upload, get } = await started();
    const requested = await upload("clip");
    const key = await arrive(kit, requested);
    expect(key).toBe(sourceKeyOf({ project_id: requested.asset.projectId, id: requested.asset.id }));
    expect(await get(requested.asset.id)).toMatchObject({ size: 1_000, status: { phase: "waiting" } });
    await expect(kit.domains.uploads.admit(tokenOf(requested), 1)).rejects.toMatchObject({ status: 422 });
    await expect(kit.domains.uploads.received(requested.asset.id, 5)).rejects.toMatchObject({ status: 422 });
  });

  it("that nobody finishes fails, and says so; one that goes on does not", async () => {
    const { kit, upload, get } = await started();
    const [idle, busy] = [await upload("idle"), await upload("busy")];
    await kit.db.updateTable("asset").set({ upload_expires_at: kit.clock.now() }).execute();
    await kit.domains.uploads.touched(busy.asset.id);
    await kit.domains.housekeeping.tick();
    expect((await get(idle.asset.id)).status).toMatchObject({
      phase: "failed",
      errorMessage: "The upload was not finished in time: request another one and upload the file again.",
    });
    expect((await get(busy.asset.id)).status.phase).toBe("uploading");
    expect(await kit.domains.uploads.wanted([idle.asset.id, busy.asset.id])).toEqual(new Set([busy.asset.id]));
  });

  it("whose file was only on the disk of a node that is lost for long enough fails, and says so", async () => {
    const { kit, upload, get } = await started();
    const requested = await upload("clip");
    const { id } = requested.asset;
    const other = kit.another("other");
    await other.node.join();
    await other.uploads.admit(tokenOf(requested), 10);
    await other.uploads.received(id, 10);
    await other.close();
    const lostFor = (seconds: number) =>
      kit.db
        .updateTable("node")
        .set({ state: "gone", seen_at: new Date(Date.now() - seconds * 1000) })
        .where("name", "=", "other")
        .execute();
    await lostFor(590);
    await kit.domains.housekeeping.tick();
    expect((await get(id)).status.phase).toBe("waiting");
    await lostFor(601);
    await kit.domains.housekeeping.tick();
    expect((await get(id)).status).toMatchObject({
      phase: "failed",
      errorMessage: "The server that received the file was lost: request another upload and upload the file again.",
    });
  });

  it("that never began gives way after an hour when the project is full, one that began does not", async () => {
    const { kit, upload } = await started({ uploadsPerProject: 2 });
    const [begun, idle] = [await upload("begun"), await upload("idle")];
    await kit.domains.uploads.touched(begun.asset.id);
    const ask = async () => (await kit.call("POST", "/api/asset/request-upload", { name: "new" })).statusCode;
    kit.clock.stepWall(3_599_999);
    expect(await ask()).toBe(429);
    kit.clock.stepWall(1);
    expect([await ask(), await ask()]).toEqual([200, 429]);
    const read = async (id: string) => (await kit.call("GET", `/api/asset/${id}`)).json().status;
    expect(await read(begun.asset.id)).toMatchObject({ phase: "uploading" });
    expect(await read(idle.asset.id)).toMatchObject({
      phase: "failed",
      errorMessage: expect.stringContaining("did not begin within an hour"),
    });
    await expect(kit.domains.uploads.admit(tokenOf(idle), 1)).rejects.toMatchObject({ status: 403 });
  });

  it("is bounded by size, by quota and in number", async () => {
    const { kit, upload } = await started({
      maxUploadBytes: 5_000,
      assetBytesPerProject: 6_000,
      uploadsPerProject: 2,
    });
    const [one, two] = [await upload("one"), await upload("two")];
    const { uploads } = kit.domains;
    await expect(uploads.admit(tokenOf(one), 5_001)).rejects.toMatchObject({ status: 413 });
    await arrive(kit, one, 4_000);
    await expect(uploads.admit(tokenOf(two), 2_001)).rejects.toMatchObject({ status: 413 });
    expect(await uploads.admit(tokenOf(two), 2_000)).toMatchObject({ maxBytes: 2_000 });
    await upload("three");
    const refused = await kit.call("POST", "/api/asset/request-upload", { name: "four" });
    expect([refused.statusCode, refused.json().errors]).toEqual([
      429,
      ["the project has 2 unfinished uploads: finish or delete some"],
    ]);
  });

  it("takes no ladder without rungs, no policy of an unknown webhook, no unknown field", async () => {
    const { kit } = await started();
    const ask = async (body: object) => {
      const answer = await kit.call("POST", "/api/asset/request-upload", { name: "x", ...body });
      return [answer.statusCode, answer.json().errors[0]];
    };
    expect(await ask({ profiles: [] })).toEqual([400, "assets must have at least one profile"]);
    expect(await ask({ playbackPolicy: { type: "webhook", webhookId: "none" } })).toEqual([
      400,
      "webhook ID not found",
    ]);
  });

  it("ignores storage and encryption that ask for nothing, and refuses the rest with a sentence", async () => {
    const { kit } = await started();
    const ask = async (body: object) => {
      const { statusCode, ...answer } = await kit.call("POST", "/api/asset/request-upload", { name: "x", ...body });
      return [statusCode, answer.json().message];
    };
    for (const none of [{ storage: { ipfs: false } }, { storage: null }, { storage: {} }, { encryption: null }])
      expect((await ask(none))[0]).toBe(200);
    expect(await ask({ storage: { ipfs: true } })).toEqual([501, expect.stringContaining("stores no assets on IPFS")]);
    expect(await ask({ storage: "ipfs" })).toEqual([501, expect.stringContaining("stores no assets on IPFS")]);
    expect(await ask({ encryption: { encryptedKey: "a" } })).toEqual([
      501,
      expect.stringContaining("no encrypted files"),
    ]);
  });

  it("takes no name that is none", async () => {
    const { kit } = await started();
    const ask = async (body: object) => {
      const answer = await kit.call("POST", "/api/asset/request-upload", { name: "x", ...body });
      return [answer.statusCode];
    };
    expect((await ask({ name: 7 }))[0]).toBe(422);
  });
});

describe("assets", () => {
  it("are listed with filters, and those of others are not there", async () => {
    const { kit, upload } = await started();
    const [one, two] = [await upload("first clip"), await upload("second")];
    await arrive(kit, two);
    const list = async (query: string) =>
      (await kit.call("GET", `/api/asset${query}`)).json<Asset[]>().map(({ name }) => name);
    expect(await list("?order=createdAt-false")).toHaveLength(2);
    expect(await list("?phase=waiting")).toEqual(["second"]);
    expect(await list(`?playbackId=${one.asset.playbackId}`)).toEqual(["first clip"]);
    expect(await list(`?filters=${encodeURIComponent('[{"id":"name","value":"CLIP"}]')}`)).toEqual(["first clip"]);
    expect(await list("?limit=1&count=true")).toHaveLength(1);
    const { apiKey } = await addProject(kit.db, "stranger");
    const headers = { authorization: `Bearer ${apiKey}` };
    expect((await kit.call("GET", "/api/asset", undefined, headers)).json()).toEqual([]);
    expect((await kit.call("GET", `/api/asset/${one.asset.id}`, undefined, headers)).json()).toMatchObject({
      errors: ["Asset not found"],
    });
    expect((await kit.call("DELETE", `/api/asset/${one.asset.id}`, undefined, headers)).statusCode).toBe(404);
    expect((await kit.call("GET", `/api/task/${one.task.id}`, undefined, headers)).statusCode).toBe(404);
  });

  it("change their name at any time, their policy only where it stays gated or public and they are ready", async () => {
    const { kit, upload } = await started();
    const { asset } = await upload("clip");
    const patch = async (body: object) => {
      const answer = await kit.call("PATCH", `/api/asset/${asset.id}`, body);
      return [answer.statusCode, answer.json().errors?.[0] ?? answer.json().name];
    };
    expect(await patch({ name: "other" })).toEqual([200, "other"]);
    expect(await patch({ playbackPolicy: { type: "public" } })).toEqual([422, "asset is not ready"]);
    await kit.db.updateTable("asset").set({ phase: "ready" }).where("id", "=", asset.id).execute();
    expect(await patch({ playbackPolicy: { type: "public" } })).toEqual([200, "other"]);
    expect(await patch({ playbackPolicy: { type: "jwt" } })).toEqual([
      422,
      "cannot update playback policy from private to public or vice versa",
    ]);
  });

  it("are gone when deleted, come back when restored, and lose their bytes after a week", async () => {
    const { kit, upload, get } = await started();
    const requested = await upload("clip");
    const { id } = requested.asset;
    await arrive(kit, requested);
    const call = async (method: "POST" | "DELETE", path: string) => {
      const answer = await kit.call(method, `/api/asset/${id}${path}`);
      return answer.body === "" ? answer.statusCode : [answer.statusCode, answer.json().errors[0]];
    };
    expect(await call("DELETE", "")).toBe(204);
    expect(await call("DELETE", "")).toEqual([400, "asset is already deleted"]);
    expect((await kit.call("GET", `/api/asset/${id}`)).statusCode).toBe(404);
    expect((await kit.call("GET", `/api/task/${requested.task.id}`)).json().status.phase).toBe("cancelled");
    const deleting = (await kit.call("GET", "/api/asset?phase=deleting")).json<Asset[]>();
    expect(deleting.map(({ status }) => status.phase)).toEqual(["deleting"]);

    expect(await call("POST", "/restore")).toBe(204);
    expect((await get(id)).status.phase).toBe("waiting");
    expect((await kit.call("GET", `/api/task/${requested.task.id}`)).json().status.phase).toBe("waiting");

    await call("DELETE", "");
    kit.asked.failsToRemove = true;
    const { purge_at: purgeAt } = await kit.db.selectFrom("asset").select("purge_at").executeTakeFirstOrThrow();
    expect(Number(purgeAt) - kit.clock.now()).toBe(7 * 86_400_000);
    await kit.db.updateTable("asset").set({ purge_at: kit.clock.now() }).execute();
    expect(await call("POST", "/restore")).toEqual([404, "Asset not found"]);
    await kit.domains.housekeeping.tick();
    kit.asked.failsToRemove = false;
    kit.clock.advance(60_000);
    await kit.domains.housekeeping.tick();
    expect(kit.asked.removedPrefixes).toEqual([`v1/${requested.asset.projectId}/asset/${id}/`]);
    expect(await kit.db.selectFrom("asset").select("id").execute()).toEqual([]);
  });

  it("that failed are retried from the file that is there", async () => {
    const { kit, upload, get } = await started();
    const requested = await upload("clip");
    const { id } = requested.asset;
    const retry = async () => {
      const answer = await kit.call("POST", `/api/asset/${id}/retry`);
      return [answer.statusCode, answer.json().errors?.[0] ?? answer.json().task.id];
    };
    expect(await retry()).toEqual([422, "only failed assets can be retried"]);
    await arrive(kit, requested);
    await kit.db.updateTable("asset").set({ phase: "failed", error: "broken" }).where("id", "=", id).execute();
    expect(await retry()).toEqual([200, requested.task.id]);
    const { status } = await get(id);
    expect([status.phase, status.errorMessage]).toEqual(["waiting", undefined]);
    const row = await kit.db.selectFrom("asset").select("attempt").executeTakeFirstOrThrow();
    expect(row.attempt).toBe(2);
  });

  it("tell webhooks what happens to them, with a snapshot", async () => {
    const { kit, upload } = await started();
    const events = ["asset.created", "asset.updated", "asset.deleted", "task.spawned", "task.updated"];
    await kit.call("POST", "/api/webhook", { name: "hook", url: "http://127.0.0.1:59999/", events });
    const requested = await upload("clip");
    await arrive(kit, requested);
    await kit.call("DELETE", `/api/asset/${requested.asset.id}`);
    await kit.domains.deliveries.run();
    const queued = await kit.db
      .selectFrom("webhook_delivery")
      .select(["event", "subject_kind"])
      .orderBy("id")
      .execute();
    // In order for each of them; the two have no order between them.
    const of = (kind: string) => queued.filter((row) => row.subject_kind === kind).map(({ event }) => event);
    expect(of("asset")).toEqual(["asset.created", "asset.updated", "asset.updated", "asset.deleted"]);
    expect(of("task")).toEqual(["task.spawned", "task.updated", "task.updated"]);
    const log = await kit.db.selectFrom("webhook_log").select(["event", "body"]).orderBy("created_at").execute();
    const created = log.find(({ event }) => event === "asset.created");
    expect(JSON.parse(created?.body ?? "{}").payload.asset).toMatchObject({
      id: requested.asset.id,
      snapshot: { name: "clip", status: { phase: "deleting" } },
    });
  });

  it("an asset without a job is queued again", async () => {
    const { kit, upload } = await started();
    const requested = await upload("clip");
    await arrive(kit, requested);
    const jobs = () =>
      kit.db
        .selectFrom("weir_jobs.job" as never)
        .selectAll()
        .execute();
    expect(await jobs()).toHaveLength(1);
    kit.clock.advance(61_000);
    await kit.domains.housekeeping.tick();
    expect(await jobs()).toHaveLength(1);
    await kit.db.deleteFrom("weir_jobs.job" as never).execute();
    await kit.domains.housekeeping.tick();
    expect(await jobs()).toHaveLength(1);
  });
});

describe("an import", () => {
  const url = "https://example.com/a.mp4";
  const jobs = (kit: TestDomains) =>
    kit.db
      .selectFrom("weir_jobs.job" as never)
      .select(["name" as never])
      .execute();

  it("is an asset that waits for its file, and the same one for a second request", async () => {
    const { kit } = await started();
    const ask = (more: object = {}) => kit.call("POST", "/api/asset/upload/url", { name: "clip", url, ...more });
    const first = await ask();
    expect(first.statusCode).toBe(201);
    const { asset, task } = first.json();
    expect(asset).toMatchObject({ source: { type: "url", url }, status: { phase: "waiting" } });
    expect(await jobs(kit)).toEqual([{ name: "import-asset" }]);
    const second = await ask({ name: "once more" });
    expect([second.statusCode, second.json().asset.id, second.json().task.id]).toEqual([200, asset.id, task.id]);
    expect((await ask({ url: `${url}?other` })).statusCode).toBe(201);
    const row = await kit.db
      .updateTable("asset")
      .set({ created_at: kit.clock.now() - 900_000 })
      .execute();
    expect(row).toHaveLength(1);
    expect((await ask()).statusCode).toBe(201);
  });

  it("is refused for an address where files are not fetched from", async () => {
    const { kit } = await started();
    const ask = async (address: string) => {
      const answer = await kit.call("POST", "/api/asset/upload/url", { name: "clip", url: address });
      return [answer.statusCode, answer.json().errors[0]];
    };
    expect(await ask("http://user:word@example.com/a.mp4")).toEqual([
      400,
      "files cannot be fetched from this url: it must not hold a user name or password",
    ]);
    expect((await ask("ftp://example.com/a.mp4"))[0]).toBe(422);
    expect((await ask("file:///etc/passwd"))[0]).toBe(422);
  });

  it("is queued for a worker when its file is there", async () => {
    const { kit, get } = await started();
    const { asset } = (await kit.call("POST", "/api/asset/upload/url", { name: "clip", url })).json();
    const { uploads } = kit.domains;
    expect(await uploads.wanted([asset.id])).toEqual(new Set([asset.id]));
    await uploads.received(asset.id, 5);
    await uploads.stored(asset.id);
    expect(await get(asset.id)).toMatchObject({ size: 5, status: { phase: "waiting" } });
    expect(await jobs(kit)).toEqual([{ name: "import-asset" }, { name: "process-asset" }]);
  });
});

it("the recording of a session is read as an asset by the session's id, by its owner alone", async () => {
  const { kit, get } = await started();
  const body = { name: "stage", record: true, creatorId: "me", playbackPolicy: { type: "public" } };
  const stream = (await kit.call("POST", "/api/stream", body)).json<Stream>();
  const request = { protocol: "rtmp", streamKey: stream.streamKey ?? "", remoteAddress: "127.0.0.1" } as const;
  const decision = await kit.domains.publishGate.authorize(request);
  const session = decision.ok ? await kit.domains.publishGate.begin(decision.grant, kit.clock.now()) : null;
  const id = session?.sessionId ?? "";
  expect(await get(id)).toMatchObject({
    id,
    name: expect.stringMatching(/^live-\d{4}-\d\d-\d\dT\d\d:\d\dZ$/),
    source: { type: "recording", sessionId: id },
    status: { phase: "waiting", isPlayable: false },
    creatorId: { type: "unverified", value: "me" },
    playbackPolicy: { type: "public" },
  });
  const ready = { recording: "ready", mp4_bytes: 5_000, ended_at: kit.clock.now() } as const;
  await kit.db.updateTable("session").set(ready).where("id", "=", id).execute();
  const asset = await get(id);
  expect(asset).toMatchObject({ status: { phase: "ready", isPlayable: true }, size: 5_000 });
  expect(asset.downloadUrl).toBe(`http://weir.test/asset/hls/${asset.playbackId}/staticsource.mp4`);
  const { apiKey } = await addProject(kit.db, "stranger");
  const headers = { authorization: `Bearer ${apiKey}` };
  expect((await kit.call("GET", `/api/asset/${id}`, undefined, headers)).statusCode).toBe(404);
});
