import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Asset, RequestedUpload } from "@weir/contract";
import { expect, it, onTestFinished } from "vitest";
import type { Job } from "../../platform/queue/job.ts";
import { type AssetLedger, type AssetProcessor, type MediaIndex, ProcessingBroke } from "../../ports/index.ts";
import { startTestDomains } from "../domain-test-kit.ts";
import { EventLog } from "../events/index.ts";
import { processingJob } from "./processing-job.ts";
import { StoredAssetLedger } from "./stored-asset-ledger.ts";

const FILE = Buffer.from("the bytes of the file");

/** An asset whose file is there, and a way to run its job with a media floor that does as told. */
async function startJob() {
  const kit = await startTestDomains();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const requested = await kit.call("POST", "/api/asset/request-upload", { name: "clip" });
  const { id, projectId } = requested.json<RequestedUpload>().asset;
  const { uploads } = kit.domains;
  await uploads.received(id, FILE.length);
  await uploads.stored(id, (await uploads.keyOf(id)) ?? "");
  const deps = { ...kit, events: new EventLog(), accessChanged: async () => {} };
  const run = async (process: AssetProcessor["process"], signal = new AbortController().signal) => {
    const ledger = new StoredAssetLedger(deps);
    const store = { read: async () => Readable.from([FILE.subarray(0, 5), FILE.subarray(5)]) };
    const job: Job = { id: "j", data: { assetId: id }, signal, progress: async () => {} };
    await processingJob({ ...deps, ledger, store, assetProcessor: { process } }).run(job);
  };
  const media: MediaIndex = { id, projectId, keyPrefix: "v1/x/", renditions: [], mp4s: [] };
  return { run, media, asset: async () => (await kit.call("GET", `/api/asset/${id}`)).json<Asset>() };
}

const breaksOff: AssetProcessor["process"] = async (id, ledger: AssetLedger) => {
  await ledger.beginProcessing(id);
  throw new Error("the child died");
};

it("a ready asset has the hashes of the stored file", async () => {
  const { run, media, asset } = await startJob();
  await run(async (id, ledger) => {
    await ledger.beginProcessing(id);
    await ledger.finished(id, media);
  });
  const hash = (algorithm: string) => ({ algorithm, hash: createHash(algorithm).update(FILE).digest("hex") });
  expect(await asset()).toMatchObject({
    status: { phase: "ready" },
    size: FILE.length,
    hash: [hash("md5"), hash("sha256")],
  });
});

it("processing that breaks off three times fails the asset; a retry by its owner begins to count anew", async () => {
  const { run, asset } = await startJob();
  await expect(run(breaksOff)).rejects.toThrow("the child died");
  await expect(run(breaksOff)).rejects.toThrow("the child died");
  expect((await asset()).status.phase).toBe("processing");
  await run(breaksOff);
  expect((await asset()).status).toMatchObject({
    phase: "failed",
    errorMessage: expect.stringContaining("Processing broke off 3 times"),
  });
});

it("an asset that is given up names what its media child died of", async () => {
  const { run, asset } = await startJob();
  const dies: AssetProcessor["process"] = async (id, ledger) => {
    await ledger.beginProcessing(id);
    throw new ProcessingBroke("the media child ended with RangeError: 7452000000 is out of range (bytes.ts:54)");
  };
  for (let runs = 0; runs < 2; runs++) await expect(run(dies)).rejects.toThrow(ProcessingBroke);
  await run(dies);
  expect((await asset()).status).toMatchObject({
    phase: "failed",
    errorMessage: expect.stringContaining("failed 3 times: the media child ended with RangeError: 7452000000"),
  });
});

it("a process that closes counts for nothing", async () => {
  const { run, asset } = await startJob();
  for (let closes = 0; closes < 5; closes++) {
    const closing = new AbortController();
    const process: AssetProcessor["process"] = async (id, ledger) => {
      await ledger.beginProcessing(id);
      closing.abort(new Error("closing"));
      throw new Error("interrupted");
    };
    await expect(run(process, closing.signal)).rejects.toThrow();
  }
  expect((await asset()).status.phase).toBe("processing");
});
