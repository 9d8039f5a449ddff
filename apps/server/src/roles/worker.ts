import type { Domains } from "../domains/index.ts";

/** The work that no request asks for. Stops with the domains. */
export function startWorker(domains: Domains): void {
  domains.housekeeping.start();
  domains.deliveries.start();
  domains.jobs.start();
}
