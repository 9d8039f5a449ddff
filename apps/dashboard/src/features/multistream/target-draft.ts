import type { MultistreamTargetPatch, NewTargetRef } from "@weir/contract";
import { strings } from "../../shared/strings.ts";

export type Platform = keyof typeof strings.multistream.form.platforms;

/** Where each platform takes streams; empty where every broadcaster has an address of their own. */
const SERVERS: Readonly<Record<Platform, string>> = {
  twitch: "rtmps://live.twitch.tv/app",
  youtube: "rtmps://a.rtmps.youtube.com/live2",
  facebook: "rtmps://live-api-s.facebook.com:443/rtmp",
  kick: "",
  custom: "",
};

/** A target as a form has it. */
export interface TargetDraft {
  readonly platform: Platform;
  readonly name: string;
  readonly server: string;
  readonly streamKey: string;
  readonly profile: string;
  readonly videoOnly: boolean;
  /** The last picture and silence while the encoder is away. */
  readonly slate: boolean;
}

export const EMPTY_TARGET: TargetDraft = {
  platform: "twitch",
  name: strings.multistream.form.platforms.twitch,
  server: SERVERS.twitch,
  streamKey: "",
  profile: "source",
  videoOnly: false,
  slate: false,
};

/** The draft for another platform: its server, and its name where none was typed. */
export function withPlatform(draft: TargetDraft, platform: Platform): TargetDraft {
  const { platforms } = strings.multistream.form;
  const isNamed = draft.name !== "" && draft.name !== platforms[draft.platform];
  const name = isNamed ? draft.name : platform === "custom" ? "" : platforms[platform];
  return { ...draft, platform, name, server: SERVERS[platform] };
}

const isSrt = (address: string): boolean => /^srt:/i.test(address);

/** The complete address: the key follows the last slash, or is the stream ID of SRT. */
export function addressOf({ server, streamKey }: Pick<TargetDraft, "server" | "streamKey">): string {
  const base = server.trim().replace(/\/+$/, "");
  const key = streamKey.trim();
  if (key === "") return base;
  if (isSrt(base)) return `${base}${base.includes("?") ? "&" : "?"}streamid=${encodeURIComponent(key)}`;
  return `${base}/${key}`;
}

/** True where the address can be one: a server with a host and something behind it, or with a port over SRT. */
export function hasAddress(draft: Pick<TargetDraft, "server" | "streamKey">): boolean {
  const address = addressOf(draft);
  if (isSrt(address)) return /^srt:\/\/[^/?\s]+:\d+(\/?\?\S+)?$/i.test(address);
  return /^rtmps?:\/\/[^/\s]+\/[^\s]+$/i.test(address) && address.split("/").length > 4;
}

export function newTargetOf(draft: TargetDraft): NewTargetRef {
  const { profile, videoOnly, slate } = draft;
  const name = draft.name.trim();
  const spec = { url: addressOf(draft), ...(name === "" ? {} : { name }) };
  return { profile, ...(videoOnly && { videoOnly }), ...(slate && { slate }), spec };
}

/** The changes to a target. Its address is never shown, so blank fields keep it. */
export function targetPatchOf(
  name: string,
  { server, streamKey }: Pick<TargetDraft, "server" | "streamKey">,
): MultistreamTargetPatch {
  const url = addressOf({ server, streamKey });
  return { ...(name.trim() !== "" && { name: name.trim() }), ...(url !== "" && { url }) };
}
