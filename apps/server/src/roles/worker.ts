import type { Domains } from "../domains/index.ts";

/** What must happen without anybody asking. Stops with the domains. */
export function startWorker(domains: Domains): void {
  domains.housekeeping.start();
  domains.deliveries.start();
  domains.jobs.start();
}
