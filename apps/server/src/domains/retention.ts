import type { JobKind } from "../platform/queue/job.ts";
import { deleteExpiredDashboardSessions } from "./accounts/index.ts";
import { forgetOldAnswers } from "./api/index.ts";
import type { Deps } from "./deps.ts";
import { forgetOldCalls, forgetOldDeliveries } from "./webhooks/index.ts";

const HOUR_SECONDS = 3_600;

/** Rows that are kept for a time only, and can be millions: deleted once an hour, by one process. */
export function retentionJob({ db, clock }: Deps): JobKind {
  const chores = [forgetOldAnswers, forgetOldCalls, forgetOldDeliveries, deleteExpiredDashboardSessions];
  return {
    name: "retention",
    maxAtOnce: 1,
    maxSeconds: HOUR_SECONDS,
    maxRetries: 10,
    everySeconds: HOUR_SECONDS,
    async run(job) {
      for (const [done, forget] of chores.entries()) {
        await job.progress(done / chores.length);
        await forget(db, clock.now());
      }
    },
  };
}
