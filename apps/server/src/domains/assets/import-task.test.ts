import type { Asset } from "@weir/contract";
import { expect, it, onTestFinished } from "vitest";
import { DatabaseAway } from "../../platform/database-away.ts";
import { DownloadFailed } from "../../platform/outbound/outbound-download.ts";
import type { Job } from "../../platform/queue/job.ts";
import { UploadRefused } from "../../platform/uploads/upload-refused.ts";
import { startTestDomains } from "../domain-test-kit.ts";
import { EventLog } from "../events/index.ts";
import { taskJob } from "../tasks/index.ts";
import { type ImportTaskDeps, importTask } from "./import-task.ts";

const URL = "https://example.com/a.mp4";

async function startImport() {
  const kit = await startTestDomains();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const { asset } = (await kit.call("POST", "/api/asset/upload/url", { name: "clip", url: URL })).json();
  const run = (importFile: ImportTaskDeps["importFile"], assetBytesPerProject = 0) => {
    const { signal } = new AbortController();
    const job: Job = { id: "j", data: { assetId: asset.id }, signal };
    const task = importTask({ ...kit, maxUploadBytes: 1_000, assetBytesPerProject, importFile });
    return taskJob({ ...kit, events: new EventLog() }, task).run(job);
  };
  return { kit, run, id: asset.id, get: async () => (await kit.call("GET", `/api/asset/${asset.id}`)).json<Asset>() };
}

it("an import shows how much of the file is here", async () => {
  const { kit, run, get } = await startImport();
  await run(async ({ url, maxBytes, onProgress }) => {
    expect([url, maxBytes]).toEqual([URL, 1_000]);
    await kit.clock.advance(2_000);
    await onProgress(0.4);
  });
  expect((await get()).status).toMatchObject({ phase: "waiting", progress: 0.4 });
});

it("an import fetches no more than the project has room for, and nothing where it has none", async () => {
  const { kit, run, get } = await startImport();
  let most = 0;
  const importFile: ImportTaskDeps["importFile"] = async ({ maxBytes }) => {
    most = maxBytes;
  };
  await kit.call("POST", "/api/asset/request-upload", { name: "another" });
  await kit.db.updateTable("asset").set({ size: 600 }).where("name", "=", "another").execute();
  await run(importFile, 900);
  expect(most).toBe(300);
  await run(importFile, 600);
  expect([most, (await get()).status]).toEqual([
    300,
    expect.objectContaining({ phase: "failed", errorMessage: expect.stringContaining("has no room") }),
  ]);
});

it("an import that cannot be fails at once, with a sentence that does not tell the address", async () => {
  const { run, get } = await startImport();
  await run(async () => {
    throw new DownloadFailed("the host answered 404", { isFinal: true });
  });
  expect((await get()).status).toMatchObject({
    phase: "failed",
    errorMessage: "The file could not be fetched: the host answered 404. Check the address, then retry the asset.",
  });
});

it.each([
  [new UploadRefused(507, "the server has no room"), "the server has no room. Retry the asset."],
  [
    Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" }),
    "the server's disk takes no more. Give the disk room, then retry the asset.",
  ],
  [new Error("secret"), "this server had an error, which its log has. Retry the asset."],
])(
  "an import that the server cannot keep fails after three times, and its address is not blamed: %s",
  async (error, told) => {
    const { run, get } = await startImport();
    const fails = () => Promise.reject(error);
    await expect(run(fails)).rejects.toThrow();
    await expect(run(fails)).rejects.toThrow();
    await run(fails);
    expect((await get()).status).toMatchObject({
      phase: "failed",
      errorMessage: `The file could not be fetched: ${told}`,
    });
  },
);

it("an import that may heal is tried again, three times in all; its owner may retry it", async () => {
  const { kit, run, get, id } = await startImport();
  const fails = () => Promise.reject(new DownloadFailed("the host answered 503", { isFinal: false }));
  await expect(run(fails)).rejects.toThrow("503");
  await expect(run(fails)).rejects.toThrow("503");
  await run(fails);
  expect((await get()).status.phase).toBe("failed");
  expect((await kit.call("POST", `/api/asset/${id}/retry`)).statusCode).toBe(200);
  expect((await get()).status.phase).toBe("waiting");
  await expect(run(fails)).rejects.toThrow("503");
});

it("an import that is tried again says the reason of its last attempt, until bytes arrive", async () => {
  const { run, get } = await startImport();
  await expect(
    run(() => Promise.reject(new DownloadFailed("the connection was refused", { isFinal: false }))),
  ).rejects.toThrow();
  expect((await get()).status).toMatchObject({
    phase: "waiting",
    errorMessage: "The file could not be fetched yet: the connection was refused. Weir tries again.",
  });
});

it("an import whose asset is deleted meanwhile ends", async () => {
  const { kit, run, id } = await startImport();
  let wasAborted = false;
  await run(async ({ signal, onProgress }) => {
    await kit.call("DELETE", `/api/asset/${id}`);
    await kit.clock.advance(2_000);
    await onProgress(0.5).catch(() => {});
    wasAborted = signal.aborted;
    signal.throwIfAborted();
  });
  expect(wasAborted).toBe(true);
});

it("a database that was away during each of many runs of an import fails no asset", async () => {
  const { run, get } = await startImport();
  // As progress that cannot be written ends the run.
  const broken = () => Promise.reject(new DatabaseAway());
  for (let runs = 0; runs < 10; runs++) await run(broken).catch(() => {});
  expect((await get()).status).toMatchObject({ phase: "waiting" });
  expect((await get()).status.errorMessage ?? "").not.toMatch(/this server had an error/);
});
