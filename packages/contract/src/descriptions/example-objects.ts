import type { Asset } from "../asset.ts";
import type { MultistreamTarget } from "../multistream.ts";
import type { PlaybackPolicy } from "../playback-policy.ts";
import { DEFAULT_PROFILES } from "../profile.ts";
import type { Session } from "../session.ts";
import type { SigningKey } from "../signing-key.ts";
import type { Stream } from "../stream.ts";
import type { Task } from "../task.ts";
import type { Webhook, WebhookLog } from "../webhook.ts";

/** The server of all examples. A document that a server answers has that server's own address in its place. */
export const EXAMPLE_ORIGIN = "https://video.example.com";

/** The objects of all examples: one creator's channel, with a recorded stream, an uploaded film and a receiver of webhooks. */
export const ids = {
  account: "5a2f9d0c-6d1e-4f0b-9a77-0c1d2e3f4a5b",
  project: "0b7e4c7a-52f4-4c39-8f5e-3f6f5c1f7d10",
  stream: "3e02c6cc-7b2c-4b5a-9f6e-8a1d5b7c9e21",
  session: "c1f5a8d2-9b3e-4e7a-8d6c-2b4f6a8c0e13",
  target: "7d9b1f35-2c4e-4a68-b0d2-4f6a8c0e2b46",
  asset: "f0e1d2c3-b4a5-4968-8776-95a4b3c2d1e0",
  clip: "a9b8c7d6-e5f4-4321-8765-0f1e2d3c4b5a",
  task: "6b5a4c3d-2e1f-4a0b-9c8d-7e6f5a4b3c2d",
  webhook: "d4c3b2a1-0f9e-4d8c-b7a6-5f4e3d2c1b0a",
  call: "e2d1c0b9-a8f7-4e6d-9c5b-4a3f2e1d0c9b",
  signingKey: "9e8d7c6b-5a4f-4e3d-8c2b-1a0f9e8d7c6b",
  event: "019a6e2f-7c40-7000-8000-00000000002a",
} as const;

export const playbackIds = { stream: "3e02hq8v5dlm2kzn", asset: "f0e1tz4w9bcp6rxs", clip: "a9b8yk2m7vqd4hjf" } as const;
export const STREAM_KEY = "3e02-k7vq-2mzx-9f4t";

/** 2026-03-01 18:00 UTC, and moments of the broadcast that begins then. */
export const times = {
  created: 1_772_388_000_000,
  started: 1_772_388_900_000,
  seen: 1_772_392_500_000,
  ended: 1_772_392_500_000,
} as const;

const owner = { userId: ids.account, projectId: ids.project } as const;
const mediaOf = (playbackId: string) => `${EXAMPLE_ORIGIN}/asset/hls/${playbackId}`;

export const gatedPolicy: PlaybackPolicy = { type: "jwt" };

export const stream: Stream = {
  id: ids.stream,
  kind: "stream",
  name: "Main stage",
  ...owner,
  creatorId: { type: "unverified", value: "creator-42" },
  userTags: { venue: "hall-1" },
  createdAt: times.created,
  createdByTokenName: "backend",
  streamKey: STREAM_KEY,
  playbackId: playbackIds.stream,
  playbackPolicy: { type: "public" },
  profiles: [...DEFAULT_PROFILES],
  record: true,
  multistream: { targets: [{ profile: "source", id: ids.target, status: { state: "Online", since: times.started } }] },
  isActive: true,
  suspended: false,
  lastTerminatedAt: null,
  lastSeen: times.seen,
  sourceSegments: 1800,
  sourceSegmentsDuration: 3600,
  sourceBytes: 2_025_000_000,
  transcodedSegments: 1800,
  transcodedSegmentsDuration: 3600,
  transcodedBytes: 2_542_500_000,
  ingestRate: 562_500,
  outgoingRate: 8_437_500,
  isHealthy: true,
  issues: [],
  status: {
    state: "live",
    since: times.started,
    sessionId: ids.session,
    transcoding: { state: "running" },
    renditions: DEFAULT_PROFILES.map(({ name, width, height }) => ({
      ...{ name, width, height },
      state: "running" as const,
      lagMs: 180,
    })),
  },
};

/** The stream before its first broadcast. */
export const newStream: Stream = {
  ...stream,
  multistream: { targets: [] },
  isActive: false,
  lastSeen: 0,
  sourceSegments: 0,
  sourceSegmentsDuration: 0,
  sourceBytes: 0,
  transcodedSegments: 0,
  transcodedSegmentsDuration: 0,
  transcodedBytes: 0,
  ingestRate: 0,
  outgoingRate: 0,
  isHealthy: null,
  issues: null,
  status: { state: "idle", since: times.created },
};

export const session: Session = {
  id: ids.session,
  kind: "session",
  parentId: ids.stream,
  name: "Main stage",
  playbackId: playbackIds.stream,
  ...owner,
  createdAt: times.started,
  lastSeen: times.ended,
  sourceSegments: 1800,
  sourceSegmentsDuration: 3600,
  sourceBytes: 2_025_000_000,
  transcodedSegments: 1800,
  transcodedSegmentsDuration: 3600,
  transcodedBytes: 2_542_500_000,
  ingestRate: 0,
  outgoingRate: 0,
  profiles: [...DEFAULT_PROFILES],
  record: true,
  recordingStatus: "ready",
  recordingUrl: `${mediaOf("c1f5wn3x8gtb5mqk")}/index.m3u8`,
  mp4Url: `${mediaOf("c1f5wn3x8gtb5mqk")}/staticsource.mp4`,
  isActive: false,
  endedAt: times.ended,
};

export const target: MultistreamTarget = {
  id: ids.target,
  name: "live.example.net",
  ...owner,
  disabled: false,
  createdAt: times.created,
};

export const asset: Asset = {
  id: ids.asset,
  type: "video",
  playbackId: playbackIds.asset,
  ...owner,
  name: "film.mp4",
  createdAt: times.created,
  createdByTokenName: "backend",
  source: { type: "directUpload" },
  status: { phase: "ready", updatedAt: times.seen, isPlayable: true },
  size: 104_857_600,
  videoSpec: {
    format: "mp4",
    duration: 120.5,
    bitrate: 6_961_000,
    tracks: [
      { type: "video", codec: "h264", width: 1920, height: 1080, fps: 30, bitrate: 6_800_000, duration: 120.5 },
      { type: "audio", codec: "aac", channels: 2, sampleRate: 48_000, bitrate: 160_000, duration: 120.5 },
    ],
  },
  playbackUrl: `${mediaOf(playbackIds.asset)}/index.m3u8`,
  downloadUrl: `${mediaOf(playbackIds.asset)}/original`,
};

/** The asset of a file that the server does not have yet. */
export const pendingAsset: Asset = {
  id: ids.asset,
  playbackId: playbackIds.asset,
  ...owner,
  name: "film.mp4",
  createdAt: times.created,
  source: { type: "directUpload" },
  status: { phase: "uploading", updatedAt: times.created, isPlayable: false },
};

export const importedAsset: Asset = {
  ...pendingAsset,
  source: { type: "url", url: "https://files.example.org/film.mp4" },
  status: { phase: "waiting", updatedAt: times.created, isPlayable: false },
};

export const clip: Asset = {
  id: ids.clip,
  type: "video",
  playbackId: playbackIds.clip,
  ...owner,
  name: "Encore",
  createdAt: times.ended,
  source: { type: "clip", playbackId: playbackIds.stream, sessionId: ids.session },
  status: { phase: "ready", updatedAt: times.ended, isPlayable: true },
  size: 16_875_000,
  videoSpec: { format: "mp4", duration: 30, bitrate: 4_500_000 },
  playbackUrl: `${mediaOf(playbackIds.clip)}/index.m3u8`,
  downloadUrl: `${mediaOf(playbackIds.clip)}/staticsource.mp4`,
};

export const task: Task = {
  id: ids.task,
  type: "transcode-file",
  createdAt: times.created,
  projectId: ids.project,
  requesterId: ids.account,
  params: { "transcode-file": { input: { url: "https://files.example.org/film.mp4" } } },
  status: { phase: "running", updatedAt: times.seen, progress: 0.4 },
};

export const exportTask: Task = {
  id: ids.task,
  type: "export",
  createdAt: times.created,
  scheduledAt: times.created,
  inputAssetId: ids.asset,
  projectId: ids.project,
  requesterId: ids.account,
  params: {
    export: {
      custom: { url: "https://archive.example.org/film.mp4", method: "PUT", headers: { authorization: "***" } },
    },
  },
  status: { phase: "waiting", updatedAt: times.created },
};

export const webhook: Webhook = {
  id: ids.webhook,
  kind: "webhook",
  name: "backend",
  ...owner,
  createdAt: times.created,
  events: ["stream.started", "stream.idle", "recording.ready"],
  url: "https://app.example.com/weir-events",
  isSigned: true,
  status: { lastTriggeredAt: times.seen, waiting: 0, failuresInARow: 0 },
};

/** The body of a delivery, as it is sent. */
export const delivery = {
  id: ids.event,
  webhookId: ids.webhook,
  createdAt: times.started,
  timestamp: times.started,
  event: "stream.started",
  stream: { id: ids.stream, name: "Main stage", isActive: true },
} as const;

export const webhookCall: WebhookLog = {
  id: ids.call,
  webhookId: ids.webhook,
  event: "stream.started",
  createdAt: times.started,
  duration: 0.084,
  success: true,
  request: {
    url: webhook.url,
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "Weir" },
    body: JSON.stringify(delivery),
  },
  response: { status: 200, statusText: "OK", body: "b2s=" },
  attempt: 1,
};

export const signingKey: SigningKey = {
  id: ids.signingKey,
  kind: "signing-key",
  name: "Signing Key 1",
  ...owner,
  publicKey: "LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0KTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FF",
  disabled: false,
  createdAt: times.created,
};
