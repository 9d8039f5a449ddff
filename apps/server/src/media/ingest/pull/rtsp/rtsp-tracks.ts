import { describeAac } from "@weir/formats/codecs";
import type { AacPacking } from "@weir/formats/rtp";
import type { SdpMedia, SdpPayload, SessionDescription } from "@weir/formats/sdp";
import { UnsupportedCodec } from "../../publish-refusals.ts";
import { SourceProblem } from "../source-problem.ts";

interface Described {
  readonly control: string;
  readonly payloadType: number;
}

export interface RtspVideo extends Described {
  readonly kind: "video";
  readonly codec: "avc" | "hevc";
  /** Parameter sets of the description; many cameras send them nowhere else. */
  readonly sets: readonly Uint8Array[];
}

export interface RtspAac extends Described {
  readonly kind: "audio";
  readonly codec: "aac";
  readonly clockRate: number;
  /** The AudioSpecificConfig. */
  readonly config: Uint8Array;
  readonly packing: AacPacking;
}

/** Sound that is converted. */
export interface RtspSound extends Described {
  readonly kind: "audio";
  readonly codec: "opus" | "pcma" | "pcmu";
  readonly clockRate: number;
  readonly channels: number;
}

export type RtspTrack = RtspVideo | RtspAac | RtspSound;

/** Payload types without an `a=rtpmap` (RFC 3551 6). */
const STATIC: Readonly<Record<number, readonly [codec: string, clockRate: number]>> = {
  ...{ 0: ["pcmu", 8000], 3: ["gsm", 8000], 4: ["g723", 8000], 8: ["pcma", 8000], 9: ["g722", 8000] },
  ...{ 14: ["mpa", 90_000], 26: ["jpeg", 90_000], 32: ["mpv", 90_000], 33: ["mp2t", 90_000] },
};
const MAX_SETS_TEXT = 64 * 1024;
/** The converter knows no more. */
const MAX_CHANNELS = 2;
const REMEDY = {
  video: "Set the camera to H.264 or HEVC.",
  audio: "Set the camera's audio to AAC, Opus or G.711, or turn it off.",
};

/** The first video and the first audio of a description. Throws `UnsupportedCodec` for others, and `SourceProblem` where there is neither. */
export function tracksOf({ media }: SessionDescription): readonly RtspTrack[] {
  const video = firstOf(media, "video", videoOf);
  const audio = firstOf(media, "audio", audioOf);
  if (!video && !audio) throw new SourceProblem("The source describes neither video nor audio.");
  return [video, audio].filter((track) => track !== null);
}

function firstOf<T>(media: readonly SdpMedia[], kind: "video" | "audio", read: (one: SdpMedia) => T | null): T | null {
  // What a camera takes (a loudspeaker) is no track of it.
  const own = media.filter((one) => one.kind === kind && one.direction !== "recvonly");
  for (const one of own) {
    const track = read(one);
    if (track) return track;
  }
  const [first] = own;
  if (!first) return null;
  const name = codecOf(first)?.codec.toUpperCase() ?? "an unnamed codec for";
  throw new UnsupportedCodec(`This server does not support ${name} ${kind}. ${REMEDY[kind]}`);
}

function codecOf({ types, payloads }: SdpMedia): SdpPayload | null {
  const [type = -1] = types;
  const [codec, clockRate] = STATIC[type] ?? [];
  const named = payloads.find((one) => one.type === type);
  if (named) return named;
  return codec && clockRate ? { type, codec, clockRate, channels: 1, parameters: new Map(), feedback: [] } : null;
}

function videoOf(media: SdpMedia): RtspVideo | null {
  const payload = codecOf(media);
  if (payload?.clockRate !== 90_000 || (payload.codec !== "h264" && payload.codec !== "h265")) return null;
  const names = payload.codec === "h264" ? ["sprop-parameter-sets"] : ["sprop-vps", "sprop-sps", "sprop-pps"];
  const sets = names.flatMap((name) => (payload.parameters.get(name) ?? "").slice(0, MAX_SETS_TEXT).split(","));
  return {
    ...{ kind: "video", codec: payload.codec === "h264" ? "avc" : "hevc", control: media.control },
    payloadType: payload.type,
    sets: sets.map((text) => Buffer.from(text, "base64")).filter(({ length }) => length > 2),
  };
}

function audioOf(media: SdpMedia): RtspAac | RtspSound | null {
  const payload = codecOf(media);
  if (!payload) return null;
  const { type: payloadType, codec, clockRate, channels, parameters } = payload;
  if (clockRate < 1000 || clockRate > 192_000) return null;
  const described = { kind: "audio", control: media.control, payloadType, clockRate } as const;
  if (codec === "mpeg4-generic") {
    const [config, sizeLength, indexLength, indexDeltaLength] = [
      ...[Buffer.from(parameters.get("config") ?? "", "hex"), Number(parameters.get("sizelength") ?? Number.NaN)],
      ...[Number(parameters.get("indexlength") ?? 0), Number(parameters.get("indexdeltalength") ?? 0)],
    ] as [Buffer, number, number, number];
    if (config.length === 0 || Number.isNaN(sizeLength)) return null;
    describeAac(config);
    return { ...described, codec: "aac", config, packing: { sizeLength, indexLength, indexDeltaLength } };
  }
  if (codec === "opus") return { ...described, codec, channels: 2 };
  if ((codec === "pcma" || codec === "pcmu") && channels <= MAX_CHANNELS) return { ...described, codec, channels };
  return null;
}
