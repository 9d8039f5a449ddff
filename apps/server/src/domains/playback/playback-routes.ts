import { type ApiBase, type Ingest, type PlaybackInfo, routes } from "@weir/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Secret } from "../../platform/secret.ts";
import type { StaticMp4 } from "../../ports/index.ts";
import { type AuthenticateDeps, authenticate } from "../accounts/index.ts";
import { ApiError, ApiRoutes, NotFound, version } from "../api/index.ts";
import { readAssetMedia } from "../assets/index.ts";
import { DecisionCache } from "../decision-cache.ts";
import { isPlaybackId } from "../ids.ts";
import type { PublicAddress } from "../public-address.ts";
import { readRecordingShape } from "../recordings/index.ts";
import type { Db } from "../schema.ts";
import type { PlayableFinder } from "./playable-finder.ts";
import { assetPlayback, type LiveFacts, livePlayback, recordingPlayback } from "./playback-info.ts";

export interface PlaybackRouteDeps extends AuthenticateDeps {
  readonly playables: PlayableFinder;
  /** Rate limit for public requests. */
  readonly viewers: Db;
  readonly publicAddress: PublicAddress;
  /** That SRT publishers must know; null for none. */
  readonly srtPassphrase: Secret | null;
  /** Viewers of a stream on all nodes. */
  viewersOf(streamId: string): Promise<number>;
  /** Null or absent if WebRTC is off. */
  readonly webrtcPort?: number | null;
}

interface AssetFiles {
  readonly mp4s: readonly StaticMp4[] | undefined;
  readonly isGrowing: boolean;
}

const SHOWN_ID_LENGTH = 100;
/** The shape of a ready recording no longer changes, and reading it means reading every span. */
const SHAPE_MS = 60_000;
const MAX_SHAPES = 1_000;
/** Every open watch page asks several times a minute. */
const FACTS_MS = 5_000;
const MAX_FACTS = 10_000;
/** Reading an asset's files means reading its whole index, of every segment. */
const FILES_MS = 5_000;
const MAX_FILES = 1_000;

/** Public answers: where content plays, and where to publish. No authentication, except for the owner's part. */
export function playbackRoutes(app: FastifyInstance, deps: PlaybackRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const withWebrtc = deps.webrtcPort !== undefined && deps.webrtcPort !== null;
  const shapes = new DecisionCache<Awaited<ReturnType<typeof readRecordingShape>>>(deps.clock, SHAPE_MS, MAX_SHAPES);

  const facts = new DecisionCache<LiveFacts>(deps.clock, FACTS_MS, MAX_FACTS);
  const factsOf = (streamId: string): Promise<LiveFacts> =>
    facts.get(streamId, async () => ({
      viewerCount: await deps.viewersOf(streamId),
      hasPoster: (await deps.playables.findNewestRecording(streamId)) !== undefined,
    }));

  const files = new DecisionCache<AssetFiles>(deps.clock, FILES_MS, MAX_FILES);
  const mp4sOf = async (assetId: string): Promise<readonly StaticMp4[] | undefined> => {
    const { mp4s, isGrowing } = await files.get(assetId, async () => {
      const media = await readAssetMedia(deps.viewers, assetId);
      return { mp4s: media?.mp4s, isGrowing: media === null || media.isGrowing === true };
    });
    // Whoever is told that it is ready finds all of it.
    if (isGrowing) files.forget(assetId);
    return mp4s;
  };

  api.on(routes.getApiBase, async ({ origin }): Promise<ApiBase> => {
    return {
      name: "Weir",
      version,
      openapi: `${origin}/api/openapi.json`,
      docs: `${origin}/docs`,
      dashboard: `${origin}/`,
    };
  });

  api.on(routes.getPlayback, async ({ id, query, origin }, reply): Promise<PlaybackInfo> => {
    // Without a set public URL, the addresses in it begin with the host that this request was sent to.
    reply.header("cache-control", "private, no-cache");
    const { request } = reply;
    const asker = query.recordings === "true" ? await authenticate(deps, request) : null;
    const isPlayback = isPlaybackId(id);
    const row = isPlayback ? await deps.playables.find(id) : await deps.playables.findSession(id);
    const isAsked = asker === null || asker.projectId === row?.project_id;
    if (!row || row.suspended || !isAsked)
      throw new NotFound(`No playback URL found for ${id.slice(0, SHOWN_ID_LENGTH)}`);
    if (row.kind === "live") {
      return livePlayback(row, origin, { ...(await factsOf(row.id)), withDvr: asker !== null, withWebrtc });
    }
    if (row.state === "waiting" || (row.kind === "asset" && row.state !== "ready"))
      throw new ApiError(422, "not-ready", "asset is not ready for playback");
    if (row.state !== "ready") throw new NotFound(`No playback URL found for ${id.slice(0, SHOWN_ID_LENGTH)}`);
    if (row.kind === "asset") return assetPlayback(row, origin, await mp4sOf(row.id));
    const shape = await shapes.get(row.id, () => readRecordingShape(deps.viewers, row.id, row.seconds));
    return recordingPlayback(row, origin, shape, isPlayback ? "vod" : "recording");
  });

  /** The passphrase of SRT, for those who may read stream keys too. */
  const passphraseFor = async (request: FastifyRequest): Promise<string | null> => {
    const { srtPassphrase } = deps;
    if (!srtPassphrase) return null;
    const principal = await authenticate(deps, request).catch(() => null);
    return principal && principal.access === null ? srtPassphrase.reveal() : null;
  };

  api.on(routes.getIngest, async ({ origin: base }, reply): Promise<Ingest[]> => {
    const addresses = deps.publicAddress.ingestsOf(base);
    const { rtmp } = addresses;
    const playback = `${base}/hls`;
    const passphrase = addresses.srt === undefined ? null : await passphraseFor(reply.request);
    if (passphrase !== null) reply.header("cache-control", "private, no-store");
    const ingests = {
      ...addresses,
      ...(passphrase !== null && { srtPassphrase: passphrase }),
      ...(withWebrtc ? { webrtc: `${base}/webrtc` } : {}),
    };
    return [{ ingest: rtmp, ingests, playback, playbackDirect: playback, base, baseDirect: base, origin: base }];
  });
}
