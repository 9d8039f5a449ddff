import { expect, onTestFinished, test } from "vitest";
import { startTemporaryPostgres } from "../src/platform/postgres/temporary-postgres-rig.ts";
import { childOf, startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";
import { WeirProcess } from "./support/weir-process.ts";

test("a viewer admitted by one process is known to another, and refused within ten seconds after a third disables the key", async () => {
  const postgres = await startTemporaryPostgres();
  onTestFinished(() => postgres.close());
  const { host, port, user, database } = postgres.address;
  const DATABASE_URL = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  const start = async (WEIR_ROLES: string): Promise<WeirProcess> => {
    const weir = await WeirProcess.start({ env: { DATABASE_URL, WEIR_ROLES } });
    onTestFinished(() => weir[Symbol.asyncDispose]());
    return weir;
  };
  const api = await start("api,worker");
  const [media, other] = [await start("media"), await start("media")];
  await using broadcast = await startGatedBroadcast(api, {}, media);
  const signer = await TokenSigner.create(api);
  const address = await childOf(`${broadcast.hlsUrl}?jwt=${await signer.sign(broadcast.stream.playbackId)}`);
  const statusAt = async (at: WeirProcess, url = address) => (await fetch(url.replace(media.url, at.url))).status;

  expect(await statusAt(media)).toBe(200);
  // The other process does not have the stream, but knows the viewer.
  expect(await statusAt(other)).toBe(404);
  expect(await statusAt(other, address.replace(/\/s\/./, "/s/_"))).toBe(401);

  await signer.disable();
  await expect.poll(() => statusAt(media), { timeout: 10_000 }).toBe(401);
  await expect.poll(() => statusAt(other), { timeout: 10_000 }).toBe(401);
});

test("a URL of a gated recording stays valid for its viewer after kill -9, until the key is disabled", async () => {
  await using weir = await WeirProcess.start();
  await using broadcast = await startGatedBroadcast(weir, { seconds: 3, stream: { record: true } });
  expect(await broadcast.publisher.ended).toBe(null);
  const { recordingUrl } = await broadcast.recorded();
  const [, playbackId = ""] = /\/hls\/([^/]+)\//.exec(recordingUrl) ?? [];
  const signer = await TokenSigner.create(weir);
  const address = await childOf(`${recordingUrl}?jwt=${await signer.sign(playbackId)}`);
  await weir.kill();
  await weir.restart();
  const status = async () => (await fetch(address)).status;
  expect(await status()).toBe(200);
  await signer.disable();
  await expect.poll(status, { timeout: 10_000 }).toBe(401);
});
