import { expect, test } from "vitest";
import { AccessWebhook } from "./support/access-webhook.ts";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { childOf, startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const arena = shareArena();

/** Maximum time until a viewer is refused after the key was disabled. */
const WITHDRAWN_WITHIN_MS = 10_000;

test("gated content plays with a token in the query, and stops within ten seconds after its key was disabled", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir, { stream: { profiles: SMALL_LADDER } });
  const signer = await TokenSigner.create(arena.weir);
  const jwt = await signer.sign(broadcast.stream.playbackId);
  const player = await arena.browser.playHls(`${broadcast.hlsUrl}?jwt=${jwt}`);
  await player.untilMoving(60);
  expect((await player.state()).audioBytes).toBeGreaterThan(0);
  await signer.disable();
  await expect
    .poll(async () => (await player.state()).errors.join(), { timeout: WITHDRAWN_WITHIN_MS })
    .toMatch(/ 401 /);
  await player.close();
  expect(arena.weir.log).not.toContain(jwt);
});

test("gated content plays with a token in a header", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir);
  const signer = await TokenSigner.create(arena.weir);
  const headers = { "Service-Jwt": await signer.sign(broadcast.stream.playbackId) };
  const player = await arena.browser.playHls(broadcast.hlsUrl, headers);
  await player.untilMoving(60);
  await player.close();
});

test("gated content is refused without a token, with another's token, and at a URL without one", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir);
  const signer = await TokenSigner.create(arena.weir);
  const statusOf = async (url: string) => (await fetch(url)).status;
  expect(await statusOf(broadcast.hlsUrl)).toBe(401);
  expect(await statusOf(`${broadcast.hlsUrl}?jwt=${await signer.sign("another00another")}`)).toBe(401);
  const address = await childOf(`${broadcast.hlsUrl}?jwt=${await signer.sign(broadcast.stream.playbackId)}`);
  expect(await statusOf(address)).toBe(200);
  expect(await statusOf(address.replace(/\/s\/[^/]+/, "/s/-"))).toBe(401);
});

test("a recording is gated like its stream: HLS and MP4 play with a token in the query", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir, { seconds: 6, stream: { record: true } });
  expect(await broadcast.publisher.ended).toBe(null);
  const { recordingUrl, mp4Url } = await broadcast.recorded();
  const [, playbackId = ""] = /\/hls\/([^/]+)\//.exec(recordingUrl) ?? [];
  const signer = await TokenSigner.create(arena.weir);
  const jwt = await signer.sign(playbackId);
  expect([(await fetch(recordingUrl)).status, (await fetch(mp4Url)).status]).toEqual([401, 401]);
  const hls = await arena.browser.playHls(`${recordingUrl}?jwt=${jwt}`);
  expect((await hls.untilEnd()).audioBytes).toBeGreaterThan(0);
  await hls.close();
  const mp4 = await arena.browser.playFile(`${mp4Url}?jwt=${jwt}`);
  await mp4.untilShown(30);
  await mp4.seek(4);
  await mp4.until("pictures after a seek", ({ isSeeking, currentTime }) => !isSeeking && currentTime > 4.2);
  await mp4.close();
});

test("a customer's webhook admits known viewers: live, and to the recording", async () => {
  await using customer = await AccessWebhook.start();
  customer.allowed.add("viewer one");
  const { id: webhookId } = await arena.weir.client.webhooks.create({
    name: "gate",
    url: customer.url,
    events: ["playback.accessControl"],
    sharedSecret: "a shared secret",
  });
  const playbackPolicy = { type: "webhook", webhookId, webhookContext: { room: 7 } } as const;
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true, playbackPolicy } });
  const { hlsUrl } = broadcast;
  expect((await fetch(`${hlsUrl}?accessKey=somebody+else`)).status).toBe(401);
  expect((await fetch(hlsUrl)).status).toBe(401);
  expect(customer.calls.length).toBe(1);

  const player = await arena.browser.playHls(`${hlsUrl}?accessKey=viewer%20one`);
  await player.untilMoving(60);
  await player.close();
  expect(customer.calls.length).toBe(2);
  expect(customer.calls[1]?.body).toMatchObject({ accessKey: "viewer one", context: { room: 7 } });
  expect(customer.calls[1]?.headers["livepeer-signature"]).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);

  const byHeader = await arena.browser.playHls(hlsUrl, { "Livepeer-Access-Key": "viewer one" });
  await byHeader.untilMoving(30);
  await byHeader.close();

  await broadcast.publisher.stop();
  const { recordingUrl } = await broadcast.recorded();
  expect((await fetch(recordingUrl)).status).toBe(401);
  const recorded = await arena.browser.playHls(`${recordingUrl}?accessKey=viewer%20one`);
  await recorded.untilShown(30);
  await recorded.close();
  expect(arena.weir.log).not.toContain("viewer one");
});

test("an access key of 8 KiB is passed on exactly, by header and by query, and its URLs play", async () => {
  await using customer = await AccessWebhook.start();
  const accessKey = `ey.${"Az09-_.~".repeat(1_024)}`.slice(0, 8_192);
  customer.allowed.add(accessKey);
  const { id: webhookId } = await arena.weir.client.webhooks.create({
    name: "gate",
    url: customer.url,
    events: ["playback.accessControl"],
  });
  const playbackPolicy = { type: "webhook", webhookId } as const;
  await using broadcast = await startBroadcast(arena.weir, { stream: { profiles: [], playbackPolicy } });
  const headers = { "service-access-key": accessKey };
  const child = await childOf(`${broadcast.hlsUrl}?accessKey=${accessKey}`);
  expect((await fetch(child)).status).toBe(200);
  // Like players that send their headers with every request.
  expect((await fetch(child, { headers })).status).toBe(200);
  const question = { headers: { ...headers, "x-original-uri": new URL(child).pathname } };
  expect((await fetch(`${arena.weir.url}/hls/authorize`, question)).status).toBe(204);
  const before = customer.calls.length;
  expect((await fetch(broadcast.hlsUrl, { headers })).status).toBe(200);
  expect((await fetch(`${broadcast.hlsUrl}?accessKey=${accessKey}x`)).status).toBe(401);
  expect(customer.calls.length).toBe(before + 1);
  expect(new Set(customer.calls.map(({ body }) => body.accessKey))).toEqual(new Set([accessKey]));
});
