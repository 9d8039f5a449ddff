import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startS3TestServer } from "../src/platform/storage/s3-test-server.ts";
import { AvFile } from "./support/av-file.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { WeirProcess } from "./support/weir-process.ts";

const SECONDS = 6;

test("a recording is uploaded once S3 is available again, is ready only then, and plays as HLS and MP4", async () => {
  const s3 = await startS3TestServer();
  await using closing = new AsyncDisposableStack();
  closing.defer(() => s3.close());
  const weir = closing.use(await WeirProcess.start({ env: s3.env }));
  expect(weir.log).toContain("recordings go to the bucket");
  await s3.stop();
  await using broadcast = await startBroadcast(weir, { seconds: SECONDS, stream: { record: true } });
  expect(await broadcast.publisher.ended).toBe(null);
  await expect.poll(() => weir.log, { timeout: 20_000 }).toContain("recordings wait for the object store");
  expect((await broadcast.sessions())[0]?.recordingStatus).toBe("waiting");
  await s3.start();

  const session = await broadcast.recorded(60_000);
  expect(Math.abs(session.sourceSegmentsDuration - SECONDS)).toBeLessThan(0.2);
  for (const url of [session.recordingUrl, session.mp4Url]) {
    await using file = await AvFile.open(url);
    expect((await file.decode())[640]).toBeGreaterThan(0.95 * 30 * SECONDS);
  }
  expect(await readdir(join(weir.dataFolder, "objects"))).not.toContain("v1");
  expect(await readdir(join(weir.dataFolder, "spool"), { recursive: true })).not.toContainEqual(
    expect.stringMatching(/\.m4s$/),
  );
  expect(weir.log).not.toContain(`"${s3.settings.secretAccessKey.reveal()}"`);
});
