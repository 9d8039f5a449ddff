import type { PlaybackInfo, PlaybackSource } from "@weir/contract";
import type { StaticMp4 } from "../../ports/index.ts";
import type { RecordingShape } from "../recordings/index.ts";
import type { PlayableRow } from "./playback-store.ts";

const hls = (url: string): PlaybackSource => ({ hrn: "HLS (TS)", type: "html5/application/vnd.apple.mpegurl", url });

const whep = (url: string): PlaybackSource => ({ hrn: "WebRTC (H264)", type: "html5/video/h264", url });

const NO_DVR =
  "viewers cannot go back in this broadcast: set `dvr` of the stream before the next one; if it is recorded, it plays from the start when it has ended";
const NOT_RECORDING = "no running recordings available for this stream";

const jpeg = (url: string): PlaybackSource => ({ hrn: "Thumbnail (JPEG)", type: "image/jpeg", url });

/** A poster for players, and thumbnails for their seek bar. */
const picturesOf = (base: string): PlaybackSource[] => [
  jpeg(`${base}/thumbnail.jpg`),
  { hrn: "Thumbnails", type: "text/vtt", url: `${base}/thumbnails/thumbnails.vtt` },
];

/** What playback information tells of a stream beside its row. */
export interface LiveFacts {
  readonly viewerCount: number;
  /** A recording has a picture of its last broadcast. */
  readonly hasPoster: boolean;
}

/** Playback URLs of a live stream. The response shows only the type of its policy; `withDvr` is for its owner. */
export function livePlayback(
  row: PlayableRow,
  publicUrl: string,
  {
    withDvr,
    withWebrtc,
    viewerCount,
    hasPoster,
  }: LiveFacts & { readonly withDvr: boolean; readonly withWebrtc: boolean },
): PlaybackInfo {
  const base = `${publicUrl}/hls/${row.playback_id}`;
  const isLive = row.state !== "idle";
  return {
    type: "live",
    meta: {
      live: isLive ? 1 : 0,
      playbackPolicy: policyOf(row),
      source: [
        hls(`${base}/index.m3u8`),
        ...(withWebrtc ? [whep(`${publicUrl}/webrtc/${row.playback_id}`)] : []),
        ...(isLive ? [jpeg(`${base}/source/latest.jpg`)] : []),
      ],
      ...startOf(row),
      ...(isLive && isPublic(row) ? { viewerCount } : {}),
      // Of a gated stream, it tells nobody whether there is a recording.
      ...(isLive || hasPoster || !isPublic(row) ? { poster: `${base}/thumbnail.jpg` } : {}),
      ...(withDvr ? { dvrPlayback: [dvrOf(row, base, isLive)] } : {}),
    },
  };
}

function dvrOf({ has_dvr: hasDvr }: PlayableRow, base: string, isLive: boolean) {
  if (isLive && hasDvr) return hls(`${base}/index.m3u8?dvr=1`);
  return { error: isLive ? NO_DVR : NOT_RECORDING };
}

/** Playback URLs of a recording. Requested by its session it is a `recording`, by its own playback id a `vod`. */
export function recordingPlayback(
  row: PlayableRow,
  publicUrl: string,
  shape: RecordingShape,
  type: "recording" | "vod",
): PlaybackInfo {
  const size = row.mp4_bytes === null ? {} : { size: Number(row.mp4_bytes) };
  const base = `${publicUrl}/asset/hls/${row.playback_id}`;
  return {
    type,
    meta: {
      playbackPolicy: policyOf(row),
      source: [
        { hrn: "MP4", type: "html5/video/mp4", url: `${base}/staticsource.mp4`, ...size, ...shape },
        hls(`${base}/index.m3u8`),
        ...(shape.width ? picturesOf(base) : []),
      ],
      ...startOf(row),
      ...(shape.width ? { poster: `${base}/thumbnail.jpg` } : {}),
    },
  };
}

/** Playback URLs of an asset, from the moment it can first play. */
export function assetPlayback(row: PlayableRow, publicUrl: string, mp4s: readonly StaticMp4[] = []): PlaybackInfo {
  const base = `${publicUrl}/asset/hls/${row.playback_id}`;
  const sources = mp4s
    .toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0))
    .map(({ name, bytes, width, height, bitrate }): PlaybackSource => {
      const shape = { ...(width && height ? { width, height } : {}), ...(bitrate ? { bitrate } : {}) };
      const size = bytes === undefined ? {} : { size: bytes };
      return {
        hrn: "MP4",
        type: "html5/video/mp4",
        url: `${base}/static${encodeURIComponent(name)}.mp4`,
        ...size,
        ...shape,
      };
    });
  const pictures = sources.some(({ width }) => width) ? picturesOf(base) : [];
  const source = [...sources, hls(`${base}/index.m3u8`), ...pictures];
  const poster = pictures.length > 0 ? { poster: `${base}/thumbnail.jpg` } : {};
  return { type: "vod", meta: { playbackPolicy: policyOf(row), source, ...startOf(row), ...poster } };
}

/** Anybody may watch it, so anybody may know when it began and how many watch it. */
const isPublic = ({ policy }: PlayableRow): boolean => (policy?.type ?? "public") === "public";

const startOf = (row: PlayableRow) =>
  isPublic(row) && row.started_at !== null ? { startedAt: Number(row.started_at) } : {};

const policyOf = ({ policy }: PlayableRow) => (policy ? { type: policy.type } : null);
