import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../roles/config.ts";
import { systemClock } from "../clock.ts";
import { createLog, type Log, silentLog } from "../log.ts";
import { StartupError } from "../startup-error.ts";
import { openObjectStore } from "./open-object-store.ts";
import { type S3TestServer, startS3TestServer } from "./s3-test-server.ts";

let s3: S3TestServer;

beforeAll(async () => {
  s3 = await startS3TestServer();
});

afterAll(() => s3.close());

/** Opened with these settings beside those of a store that works. */
function open(change: Record<string, string>, log: Log = silentLog) {
  return openObjectStore({
    dataFolder: "/nowhere",
    config: readConfig({ ...s3.env, ...change }),
    clock: systemClock,
    log,
  });
}

test("a bucket that can be used is opened, and nothing of the test is left in it", async () => {
  const store = await open({});
  expect(store.freeBytes()).toBeNull();
});

test.each([
  ["a bucket that is not there", { WEIR_S3_BUCKET: "another" }, "could not write v1/self-test/"],
  ["no bucket", { WEIR_S3_BUCKET: "" }, "set WEIR_S3_BUCKET"],
  ["half a key", { WEIR_S3_SECRET_ACCESS_KEY: "" }, "needs WEIR_S3_ACCESS_KEY_ID"],
])("%s stops the start with a sentence", async (_, change, sentence) => {
  const error: unknown = await open(change).catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(StartupError);
  expect(String(error)).toContain(sentence);
});

test("a secret that the store does not accept stops the start, and is not in the sentence", async () => {
  const refusing = createServer((_, response) => {
    const fields = "<AWSAccessKeyId>wrong-key</AWSAccessKeyId><StringToSign>PUT wrong-key</StringToSign>";
    response.writeHead(403).end(`<Error><Code>SignatureDoesNotMatch</Code>${fields}</Error>`);
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const { port } = refusing.address() as AddressInfo;
  const wrong = { WEIR_S3_ACCESS_KEY_ID: "wrong-key", WEIR_S3_SECRET_ACCESS_KEY: "wrong-secret" };
  const opening = open({ WEIR_S3_ENDPOINT: `http://127.0.0.1:${port}`, ...wrong });
  const error: unknown = await opening.catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(StartupError);
  expect(String(error)).toContain("could not write v1/self-test/");
  expect(String(error)).toContain("403 SignatureDoesNotMatch");
  expect(inspect(error)).not.toMatch(/wrong-(key|secret)/);
  refusing.closeAllConnections();
  refusing.close();
});

test("a store that does not answer is opened all the same, with a warning", async () => {
  await s3.stop();
  let lines = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines += String(chunk);
      done();
    },
  });
  const log = createLog({ level: "warn", readable: false }, sink);
  const store = await open({}, log);
  await expect(store.size("v1/p/a")).rejects.toThrow("did not answer");
  expect(lines).toContain("recordings wait in the data folder");
  await s3.start();
});
