import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import S3rver from "s3rver";
import { Secret } from "../secret.ts";
import { makeTestFolder } from "../test-folder-rig.ts";
import type { S3Settings } from "./s3-client.ts";
import { storeWholeObjects } from "./s3-test-store.ts";

const BUCKET = "weir-test";
/** The id of its only access key, and its secret. */
const KEY = "S3RVER";

/** For tests: a small S3 server on this machine, which can be stopped for a while. */
export interface S3TestServer {
  readonly settings: S3Settings & { readonly endpoint: string };
  /** Settings by which a server stores its objects here. */
  readonly env: Readonly<
    Record<"WEIR_S3_BUCKET" | "WEIR_S3_ENDPOINT" | "WEIR_S3_ACCESS_KEY_ID" | "WEIR_S3_SECRET_ACCESS_KEY", string>
  >;
  /** Stops answering, and keeps its data. */
  stop(): Promise<void>;
  /** Starts again at the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startS3TestServer(): Promise<S3TestServer> {
  const folder = makeTestFolder("s3");
  const [directory, incoming] = [join(folder, "buckets"), join(folder, "incoming")];
  await Promise.all([mkdir(directory), mkdir(incoming)]);
  const run = async (port: number) => {
    const buckets = [{ name: BUCKET, configs: [] }];
    const server = new S3rver({ address: "127.0.0.1", port, silent: true, directory, configureBuckets: buckets });
    storeWholeObjects(server, incoming);
    return { server, port: (await server.run()).port };
  };
  const first = await run(0);
  const { port } = first;
  const endpoint = `http://127.0.0.1:${port}`;
  let running: S3rver | null = first.server;
  const stop = async () => {
    await running?.close();
    running = null;
  };
  return {
    settings: {
      bucket: BUCKET,
      endpoint,
      region: "us-east-1",
      accessKeyId: new Secret(KEY),
      secretAccessKey: new Secret(KEY),
      isPathStyle: true,
    },
    env: {
      WEIR_S3_BUCKET: BUCKET,
      WEIR_S3_ENDPOINT: endpoint,
      WEIR_S3_ACCESS_KEY_ID: KEY,
      WEIR_S3_SECRET_ACCESS_KEY: KEY,
    },
    stop,
    async start() {
      running ??= (await run(port)).server;
    },
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
