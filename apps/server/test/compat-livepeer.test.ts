import { buffer, text } from "node:stream/consumers";
import { signAccessJwt } from "@livepeer/react/crypto";
import { Livepeer } from "livepeer";
import { TranscodePayloadSchemasType, TranscodePayloadType } from "livepeer/models/components/index.js";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../src/platform/clock.ts";
import { S3Bucket } from "../src/platform/storage/s3-bucket.ts";
import { startS3TestServer } from "../src/platform/storage/s3-test-server.ts";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { makeClip } from "./support/flv-file.ts";

// The public SDK, unmodified: it throws for an unexpected status, content type or field.

const arena = shareArena();

const openSdk = (apiKey = arena.weir.apiKey): Livepeer => new Livepeer({ apiKey, serverURL: `${arena.weir.url}/api` });

test("streams are created, read, updated, terminated and deleted", async () => {
  const { stream: streams } = openSdk();
  const created = await streams.create({ name: "by the SDK", record: true, creatorId: "me", userTags: { room: "a" } });
  const stream = created.stream ?? expect.fail("no stream in the answer");
  expect(stream).toMatchObject({ name: "by the SDK", record: true, isActive: false, suspended: false });
  expect(stream.profiles?.map(({ name }) => name)).toEqual(["240p0", "360p0", "480p0", "720p0"]);
  expect(stream.creatorId).toEqual({ type: "unverified", value: "me" });
  const id = stream.id ?? "";

  await streams.update({ name: "renamed", record: false, suspended: true, userTags: { room: "b" }, profiles: [] }, id);
  const changed = (await streams.get(id)).stream;
  expect(changed).toMatchObject({ name: "renamed", record: false, suspended: true, profiles: [] });

  await streams.terminate(id);
  await expect(streams.terminate(id)).rejects.toMatchObject({ statusCode: 429 });
  expect((await streams.getClips(id)).data).toEqual([]);
  await streams.delete(id);
  const error = await streams.get(id).catch((cause: unknown) => cause);
  expect(error).toMatchObject({ statusCode: 404, body: expect.stringContaining('"errors":["not found"]') });
});

test("multistream targets are created, listed, read, updated, added to a stream, removed and deleted", async () => {
  const { multistream, stream: streams } = openSdk();
  const created = await multistream.create({ url: "rtmp://example.com/live/secret-key", name: "elsewhere" });
  const id = created.multistreamTarget?.id ?? "";
  expect((await multistream.getAll()).data?.map((target) => target.id)).toContain(id);
  await multistream.update({ url: "rtmps://example.com/live/other", disabled: true }, id);
  const target = (await multistream.get(id)).multistreamTarget;
  expect(target).toMatchObject({ name: "elsewhere", disabled: true });
  expect(JSON.stringify(target)).not.toContain("example.com");

  const { stream } = await streams.create({ name: "forwarded", multistream: { targets: [{ profile: "source", id }] } });
  const streamId = stream?.id ?? "";
  await streams.addMultistreamTarget({ profile: "720p0", spec: { url: "srt://example.com:9000" } }, streamId);
  const targets = (await streams.get(streamId)).stream?.multistream?.targets ?? [];
  expect(targets.map(({ profile }) => profile)).toEqual(["source", "720p0"]);
  await streams.removeMultistreamTarget(streamId, targets[1]?.id ?? "");
  await multistream.delete(id);
  expect((await streams.get(streamId)).stream?.multistream?.targets).toEqual([]);
});

test("signing keys are created, listed, read, updated and deleted, and tokens of the public helper are valid", async () => {
  const { weir } = arena;
  const { accessControl } = openSdk();
  const created = (await accessControl.create()).signingKey;
  expect(created).toMatchObject({
    name: expect.stringMatching(/^Signing Key \d+$/),
    disabled: false,
    publicKey: expect.any(String),
  });
  const id = created?.id ?? "";
  expect((await accessControl.getAll()).data?.map((key) => key.id)).toContain(id);
  await accessControl.update({ name: "renamed", disabled: true }, id);
  expect((await accessControl.get(id)).signingKey).toMatchObject({ name: "renamed", disabled: true });
  await accessControl.delete(id);
  await expect(accessControl.get(id)).rejects.toMatchObject({ statusCode: 404 });

  // The SDK omits the private key from its results.
  const { privateKey, publicKey } = await weir.client.signingKeys.create();
  const { playbackId } = await weir.client.streams.create({ name: "gated", playbackPolicy: { type: "jwt" } });
  const token = await signAccessJwt({
    privateKey,
    publicKey,
    playbackId,
    issuer: "https://example.com",
    expiration: 60,
  });
  const statusWith = async (headers: Record<string, string>) =>
    (await fetch(weir.hlsUrl(playbackId), { headers })).status;
  expect(await statusWith({ "Livepeer-Jwt": token })).toBe(200);
  expect(await statusWith({ "Livepeer-Jwt": `${token.slice(0, -2)}AA` })).toBe(401);
  expect(await statusWith({})).toBe(401);
});

test("a live stream is listed, and sessions, recordings and playback are read during a broadcast and after it", async () => {
  const { stream: streams, session: sessions, playback } = openSdk();
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true, profiles: [] } });
  const { id, playbackId } = broadcast.stream;
  await broadcast.untilSegments(1);
  expect((await streams.get(id)).stream).toMatchObject({ isActive: true, isHealthy: true, issues: [] });
  // The SDK reads one page, on which are the streams that were seen last.
  expect((await streams.getAll()).data?.map((one) => one.id)).toContain(id);
  expect((await playback.get(playbackId)).playbackInfo).toMatchObject({ type: "live", meta: { live: 1 } });

  await streams.terminate(id);
  const { id: sessionId } = await broadcast.recorded();
  const session = (await sessions.get(sessionId)).session;
  expect(session).toMatchObject({ parentId: id, recordingStatus: "ready", isHealthy: null });
  expect(session?.sourceSegmentsDuration).toBeGreaterThan(0);
  expect((await sessions.getAll()).data?.map((one) => one.id)).toContain(sessionId);
  expect((await sessions.getRecorded(id, true)).data?.map((one) => one.id)).toEqual([sessionId]);
  expect((await sessions.getClips(sessionId)).data).toEqual([]);
  const { playbackInfo } = await playback.get(sessionId);
  expect(playbackInfo?.type).toBe("recording");
  expect(playbackInfo?.meta.source.map(({ hrn }) => hrn)).toEqual([
    "MP4",
    "HLS (TS)",
    "Thumbnail (JPEG)",
    "Thumbnails",
  ]);
});

test("a file of one bucket is transcoded into another folder, and its task is read", async () => {
  const { transcode, task: tasks } = openSdk();
  const s3 = await startS3TestServer();
  onTestFinished(() => s3.close());
  const { bucket, endpoint, accessKeyId, secretAccessKey } = s3.settings;
  const store = new S3Bucket(s3.settings, systemClock);
  await store.put("in/clip.flv", await makeClip({ seconds: 2, inRealTime: false }));
  const credentials = { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() };
  const created = await transcode.create({
    input: { type: TranscodePayloadType.S3, endpoint, bucket, path: "/in/clip.flv", credentials },
    storage: { type: TranscodePayloadSchemasType.S3, endpoint, bucket, credentials },
    outputs: { hls: { path: "/out/hls" }, mp4: { path: "/out/mp4" }, fmp4: { path: "/out/hls" } },
    profiles: [{ name: "small", width: 320, height: 180, bitrate: 200_000 }],
    targetSegmentSizeSecs: 2,
    creatorId: "me",
    c2pa: false,
  });
  const id = created.task?.id ?? "";
  const read = async () => (await tasks.get(id)).task;
  await expect.poll(async () => (await read())?.status?.phase, { timeout: 60_000 }).toBe("completed");
  expect(await read()).toMatchObject({
    type: "transcode-file",
    params: { transcodeFile: { input: { url: expect.stringContaining("***:***@") } } },
  });
  expect((await tasks.getAll()).data?.map((one) => one.id)).toContain(id);
  expect(await text(await store.read("out/hls/index.m3u8"))).toContain("RESOLUTION=320x180");
  expect((await buffer(await store.read("out/mp4/staticsmall.mp4"))).length).toBeGreaterThan(1_000);
});

test("a wrong key, an invalid body and a missing object are errors with their status", async () => {
  const { stream: streams, room } = openSdk();
  await expect(openSdk("wrong").stream.getAll()).rejects.toMatchObject({ statusCode: 401 });
  const profile = { name: "tiny", width: 128, height: 128, bitrate: 1, fps: 0 };
  await expect(streams.create({ name: "a", profiles: [profile] })).rejects.toMatchObject({ statusCode: 422 });
  await expect(room.create()).rejects.toMatchObject({ statusCode: 501 });
});
