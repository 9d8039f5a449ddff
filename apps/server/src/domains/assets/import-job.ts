import { DownloadFailed } from "../../platform/outbound/outbound-download.ts";
import type { Job, JobKind } from "../../platform/queue/job.ts";
import type { ImportRequest } from "../../platform/uploads/upload-import.ts";
import { UploadRefused } from "../../platform/uploads/upload-refused.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import type { DomainConfig } from "../settings.ts";
import { assetEvent, lockAsset, moveAsset, writeAsset } from "./asset-change.ts";
import { projectRoom } from "./project-room.ts";

const MAX_SECONDS = 12 * 3_600;
const AT_ONCE = 6;
/** Each may have to wait for hours on a slow host. */
const MAX_PER_PROJECT = 4;
/** Each run tries several times by itself. */
const MAX_BROKEN_RUNS = 3;
const TELL_EVERY_MS = 2_000;
const NO_ROOM = "The project has no room for this file: delete assets or recordings, then retry the asset.";

export interface ImportJobDeps extends Deps, Pick<DomainConfig, "maxUploadBytes" | "assetBytesPerProject"> {
  readonly events: EventLog;
  /** Bring the file at an address to the object store as if it had been uploaded. */
  importFile(request: ImportRequest): Promise<void>;
}

/** Fetches the file of one asset; what comes then is queued when it is in the object store. */
export function importJob(deps: ImportJobDeps): JobKind {
  return {
    name: "import-asset",
    maxAtOnce: AT_ONCE,
    maxPerOwner: MAX_PER_PROJECT,
    maxSeconds: MAX_SECONDS,
    maxRetries: 50,
    firstRetrySeconds: 30,
    isOnePerKey: true,
    run: (job) => importAsset(deps, job),
  };
}

async function importAsset(deps: ImportJobDeps, { data, signal }: Job): Promise<void> {
  const { assetId } = data as { assetId: string };
  const { db, clock, log, maxUploadBytes } = deps;
  const row = await db.selectFrom("asset").selectAll().where("id", "=", assetId).executeTakeFirst();
  if (row?.phase !== "waiting" || row.deleted_at !== null || row.source_key !== null || row.source.type !== "url")
    return;
  const left = new AbortController();
  let toldAt = clock.monotonic();
  const onProgress = async (progress: number) => {
    if (clock.monotonic() - toldAt < TELL_EVERY_MS) return;
    toldAt = clock.monotonic();
    if (!(await tellProgress(deps, assetId, progress))) left.abort(new NotWanted());
  };
  const room = await projectRoom(db, row.project_id, deps.assetBytesPerProject);
  if (room === 0) return fail(deps, assetId, NO_ROOM);
  const maxBytes = Math.min(maxUploadBytes, room ?? maxUploadBytes);
  try {
    const wanted = AbortSignal.any([signal, left.signal]);
    await deps.importFile({ id: assetId, url: row.source.url, maxBytes, signal: wanted, onProgress });
  } catch (error) {
    if (left.signal.aborted) return;
    const isOurs = !(error instanceof DownloadFailed || error instanceof UploadRefused);
    const isFinal = error instanceof DownloadFailed && error.isFinal;
    if (signal.aborted) throw error;
    const why = isOurs ? "of an error of this server" : (error as Error).message;
    const meanwhile = `The file could not be fetched yet: ${why}. Weir tries again.`;
    if (!isFinal && (await isWorthAnotherRun(deps, assetId, meanwhile))) throw error;
    log.info({ ...(isOurs ? { err: error } : { reason: (error as Error).message }), assetId }, "an import failed");
    await fail(deps, assetId, `The file could not be fetched: ${why}. Check the address, then retry the asset.`);
  }
}

class NotWanted extends Error {}

/** Whether somebody still wants it. */
async function tellProgress({ db, clock, events }: ImportJobDeps, assetId: string, progress: number): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAsset(trx, assetId);
    if (row?.phase !== "waiting" || row.deleted_at !== null) return false;
    const at = clock.now();
    await writeAsset(trx, row, { at, set: { progress: Math.max(row.progress, progress), error: null } });
    if (Math.floor(progress * 10) > Math.floor(row.progress * 10))
      await events.append(trx, [assetEvent(row, "asset.updated", at)]);
    return true;
  });
}

/** If so, the asset says the reason of the last attempt until bytes arrive. */
async function isWorthAnotherRun(
  { db, clock, events }: ImportJobDeps,
  assetId: string,
  error: string,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAsset(trx, assetId);
    if (row?.phase !== "waiting") return true;
    const [at, runs] = [clock.now(), row.broken_runs + 1];
    await writeAsset(trx, row, { at, set: { broken_runs: runs, error } });
    if (row.error !== error) await events.append(trx, [assetEvent(row, "asset.updated", at)]);
    return runs < MAX_BROKEN_RUNS;
  });
}

async function fail({ db, clock, events }: ImportJobDeps, assetId: string, error: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await lockAsset(trx, assetId);
    if (row?.phase !== "waiting") return;
    await events.append(trx, await moveAsset(trx, row, "fail", { at: clock.now(), set: { error } }));
  });
}
