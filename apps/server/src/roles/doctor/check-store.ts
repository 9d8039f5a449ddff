import type { Log } from "../../platform/log.ts";
import { silentLog } from "../../platform/log.ts";
import { openObjectStore } from "../../platform/storage/open-object-store.ts";
import { type Check, type Finding, lookAt, ok, problem } from "./finding.ts";

/** Whether the bucket takes and gives objects, as the start of a server tries it. */
export const checkStore: Check = async ({ config, clock }) => {
  // Files are covered by the data folder, and opening them would touch those of a running server.
  if (config.s3Bucket === null && config.s3Endpoint === null && config.s3AccessKeyId === null) return [];
  let warned = "";
  const warn: Log["warn"] = (first: unknown, second?: string) => {
    warned = second ?? String(first);
  };
  const log: Log = Object.assign(Object.create(silentLog), { warn });
  const look = async (): Promise<Finding> => {
    await openObjectStore({ dataFolder: config.dataDir, config, clock, log });
    if (warned !== "") return problem("object store", `${warned}; check WEIR_S3_ENDPOINT and the network`);
    return ok("object store", `bucket ${config.s3Bucket} takes and returns objects`);
  };
  return [await lookAt("object store", look)];
};
