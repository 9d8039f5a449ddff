import type { Job, JobKind } from "../../platform/queue/job.ts";
import { type AssetLedger, AssetNotWanted, type AssetProcessor } from "../../ports/index.ts";
import { lockAsset, writeAsset } from "./asset-change.ts";
import { type AssetHashDeps, recordHashes } from "./asset-hash.ts";
import { brokenRunsSentence } from "./broken-runs.ts";

const MAX_SECONDS = 12 * 3_600;
/** Of one attempt, that broke off by an error. A killed process counts for none. */
const MAX_BROKEN_RUNS = 3;
/** Each is scanned, and plays, soon; the media floor bounds what they do at a time. */
const AT_ONCE = 6;
/** Those of other projects do not wait for a thousand files of one. */
const MAX_PER_PROJECT = 4;
/** Places of their own: somebody waits for a clip, and all others may be taken by long files. */
const CLIPS_AT_ONCE = 3;
const MAX_CLIPS_PER_PROJECT = 2;

export interface ProcessingJobDeps extends AssetHashDeps {
  readonly ledger: AssetLedger;
  readonly assetProcessor: AssetProcessor;
}

/** Processes one asset; queued when the last byte of its file is durable. At most one job for an asset, whatever was queued. */
export function processingJob(deps: ProcessingJobDeps): JobKind {
  return {
    name: "process-asset",
    maxAtOnce: AT_ONCE,
    maxPerOwner: MAX_PER_PROJECT,
    maxSeconds: MAX_SECONDS,
    maxRetries: 50,
    firstRetrySeconds: 5,
    isOnePerKey: true,
    run: (job) => processAsset(deps, job),
  };
}

/** As `processingJob`, for assets that are clips. */
export function clipJob(deps: ProcessingJobDeps): JobKind {
  return { ...processingJob(deps), name: "make-clip", maxAtOnce: CLIPS_AT_ONCE, maxPerOwner: MAX_CLIPS_PER_PROJECT };
}

async function processAsset(deps: ProcessingJobDeps, job: Job): Promise<void> {
  const { assetId } = job.data as { assetId: string };
  try {
    const hashing = recordHashes(deps, assetId, job.signal);
    // A ready asset has its hashes.
    const ledger = {
      beginProcessing: (id) => deps.ledger.beginProcessing(id),
      progressed: (id, fraction) => deps.ledger.progressed(id, fraction),
      probed: (id, spec) => deps.ledger.probed(id, spec),
      playable: (id, media) => deps.ledger.playable(id, media),
      finished: async (id, media) => {
        await hashing;
        await deps.ledger.finished(id, media);
      },
      failed: (id, sentence) => deps.ledger.failed(id, sentence),
    } satisfies AssetLedger;
    // Neither goes on behind a job that is over.
    const [processed, hashed] = await Promise.allSettled([
      deps.assetProcessor.process(assetId, ledger, job.signal),
      hashing,
    ]);
    for (const result of [processed, hashed]) if (result.status === "rejected") throw result.reason;
  } catch (error) {
    if (error instanceof AssetNotWanted) return;
    if (job.signal.aborted || (await isWorthAnotherRun(deps, assetId))) throw error;
    deps.log.warn({ err: error, assetId }, "processing an asset broke off too often; it has failed");
    await deps.ledger.failed(assetId, brokenRunsSentence(error, MAX_BROKEN_RUNS, "asset"));
  }
}

/** Count a run that broke off. */
async function isWorthAnotherRun({ db, clock }: ProcessingJobDeps, assetId: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAsset(trx, assetId);
    if (row?.phase !== "processing") return true;
    await writeAsset(trx, row, { at: clock.now(), set: { broken_runs: row.broken_runs + 1 } });
    return row.broken_runs + 1 < MAX_BROKEN_RUNS;
  });
}
