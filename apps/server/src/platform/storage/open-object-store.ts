import { join } from "node:path";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { sleep } from "../retry.ts";
import type { ValuesOf } from "../setting-kinds.ts";
import { StartupError } from "../startup-error.ts";
import { LocalObjectStore } from "./local-object-store.ts";
import type { ObjectStore } from "./object-store.ts";
import type { S3Settings } from "./s3-client.ts";
import { NoAnswer, StoreFailed } from "./store-failed.ts";
import { testStore } from "./store-self-test.ts";
import type { STORE_SETTINGS } from "./store-settings.ts";

/** After this time the start continues without a result: recordings wait in the spool. */
const MAX_TEST_MS = 20_000;

export interface OpenObjectStoreSettings {
  readonly dataFolder: string;
  /** Of this process's puts, where others use the same data folder. */
  readonly unfinished?: string;
  readonly config: ValuesOf<typeof STORE_SETTINGS>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The object store of this node: a bucket if one is configured, or else files in the data folder. The only place that chooses. */
export async function openObjectStore({
  dataFolder,
  unfinished,
  config,
  clock,
  log,
}: OpenObjectStoreSettings): Promise<ObjectStore> {
  const s3 = s3SettingsOf(config);
  if (!s3) {
    const store = new LocalObjectStore(join(dataFolder, "objects"), unfinished);
    await store.open();
    return store;
  }
  // Loaded here, so that a process that uses files does without its libraries.
  const { S3ObjectStore } = await import("./s3-object-store.ts");
  const store = new S3ObjectStore(s3, clock, { hasAddresses: config.s3Redirects });
  const where = `bucket ${s3.bucket} at ${s3.endpoint ?? `Amazon S3, ${s3.region}`}`;
  const late = sleep(clock, MAX_TEST_MS).then(() => {
    throw new StoreFailed("test", where, { error: new NoAnswer(MAX_TEST_MS) });
  });
  try {
    await Promise.race([testStore(store), late]);
    log.info(`recordings go to the ${where}`);
  } catch (error) {
    if (!(error instanceof StoreFailed && error.isTemporary))
      throw new StartupError(
        `the ${where} cannot hold recordings: ${(error as Error).message}; check WEIR_S3_…, what its access key may do, and this machine's clock`,
      );
    log.warn({ err: error }, `the ${where} does not answer: recordings wait in the data folder until it does`);
  }
  return store;
}

/** The same store as it is, without a test or a change: for a program beside the server. */
export async function connectObjectStore({
  dataFolder,
  config,
  clock,
}: Omit<OpenObjectStoreSettings, "log">): Promise<{ readonly store: ObjectStore; readonly isBucket: boolean }> {
  const s3 = s3SettingsOf(config);
  if (!s3) return { store: new LocalObjectStore(join(dataFolder, "objects")), isBucket: false };
  const { S3ObjectStore } = await import("./s3-object-store.ts");
  return { store: new S3ObjectStore(s3, clock), isBucket: true };
}

function s3SettingsOf(config: OpenObjectStoreSettings["config"]): S3Settings | null {
  const { s3Bucket: bucket, s3Endpoint: endpoint, s3Region: region, s3PathStyle: isPathStyle } = config;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (bucket === null) {
    if (endpoint === null && accessKeyId === null && secretAccessKey === null) return null;
    throw new StartupError("an S3 store is set up without its bucket: set WEIR_S3_BUCKET, or remove WEIR_S3_…");
  }
  if (accessKeyId === null || secretAccessKey === null)
    throw new StartupError(`bucket ${bucket} needs WEIR_S3_ACCESS_KEY_ID and WEIR_S3_SECRET_ACCESS_KEY`);
  return { bucket, endpoint, region, accessKeyId, secretAccessKey, isPathStyle };
}
