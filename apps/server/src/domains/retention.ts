import type { JobKind } from "../platform/queue/job.ts";
import { deleteExpiredDashboardSessions } from "./accounts/index.ts";
import { forgetOldAnswers } from "./api/index.ts";
import { type AssetExpiryDeps, expireAssets } from "./assets/index.ts";
import { expireRecordings, type RecordingExpiryDeps } from "./sessions/index.ts";
import { forgetOldCalls, forgetOldDeliveries } from "./webhooks/index.ts";
import { forgetOldBatches } from "./written-batches.ts";

const HOUR_SECONDS = 3_600;

/** Deletes what is kept for a limited time: recordings, assets, and rows that can number millions. Runs once an hour, in one process. */
export function retentionJob(deps: AssetExpiryDeps & RecordingExpiryDeps): JobKind {
  const { db, clock } = deps;
  const rows = [
    forgetOldAnswers,
    forgetOldCalls,
    forgetOldDeliveries,
    deleteExpiredDashboardSessions,
    forgetOldBatches,
  ];
  const chores = [
    ...rows.map((forget) => () => forget(db, clock.now())),
    () => expireRecordings(deps),
    () => expireAssets(deps),
  ];
  return {
    name: "retention",
    maxAtOnce: 1,
    maxSeconds: HOUR_SECONDS,
    maxRetries: 10,
    everySeconds: HOUR_SECONDS,
    async run({ signal }) {
      for (const forget of chores) {
        signal.throwIfAborted();
        await forget();
      }
    },
  };
}
