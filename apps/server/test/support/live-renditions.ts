import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
import { expect } from "vitest";

const TICKS_PER_SECOND = 90_000;
/** Sources count in milliseconds, so the last frame of a segment may appear one too long. */
export const ROUNDING_SECONDS = 0.002;

/** A complete segment in a media playlist. */
export interface ListedSegment {
  readonly msn: number;
  readonly seconds: number;
  /** Told, or computed from the last one that was (RFC 8216bis 4.4.4.6). */
  readonly dateMs: number;
  readonly isGap: boolean;
  readonly url: string;
  readonly initUrl: string;
  /** Of a segment that is a part of a file: where it ends there. */
  readonly endByte: number;
}

export interface ListedRendition {
  /** `source`, `audio`, `v0` … */
  readonly name: string;
  readonly url: string;
}

/** The content of a segment, read by an independent demuxer. */
export interface ReadSegment {
  /** Time of the first frame, in 90 kHz ticks. */
  readonly firstTicks: number;
  readonly beginsWithIdr: boolean;
  readonly frames: number;
}

/** All renditions of a multivariant playlist, video in its order. */
export async function listedRenditions(hlsUrl: string): Promise<ListedRendition[]> {
  const addresses = (await fetchText(hlsUrl)).matchAll(
    /^[^#\n]*?([^/\n]+)\/index\.m3u8$|URI="([^"]*?([^/"]+)\/index\.m3u8)"/gm,
  );
  return Array.from(addresses, ([line, video, audioAddress, audio]) => ({
    name: video ?? audio ?? "",
    url: new URL(audioAddress ?? line, hlsUrl).href,
  }));
}

/** URL of a rendition's media playlist. */
export async function renditionUrl(hlsUrl: string, name: string): Promise<string> {
  const rendition = (await listedRenditions(hlsUrl)).find((listed) => listed.name === name);
  if (!rendition) throw new Error(`${hlsUrl} lists no rendition ${name}`);
  return rendition.url;
}

/** The complete segments currently listed in a media playlist. */
export async function listedSegments(playlistUrl: string): Promise<ListedSegment[]> {
  const segments: ListedSegment[] = [];
  let initUrl = "";
  let dateMs = Number.NaN;
  let seconds = Number.NaN;
  let isGap = false;
  let endByte = Number.POSITIVE_INFINITY;
  for (const line of (await fetchText(playlistUrl)).split("\n")) {
    const [, tag = "", value = ""] = /^#(EXT[^:]*):?(.*)$/.exec(line) ?? [];
    if (tag === "EXT-X-MAP") initUrl = new URL(/URI="([^"]*)"/.exec(value)?.[1] ?? "", playlistUrl).href;
    else if (tag === "EXT-X-PROGRAM-DATE-TIME") dateMs = Date.parse(value);
    else if (tag === "EXT-X-GAP") isGap = true;
    else if (tag === "EXT-X-BYTERANGE") endByte = value.split("@").reduce((sum, bytes) => sum + Number(bytes), 0);
    else if (tag === "EXTINF") seconds = Number.parseFloat(value);
    else if (line !== "" && tag === "") {
      const url = new URL(line, playlistUrl).href;
      segments.push({ msn: Number.parseInt(line, 10), seconds, dateMs, isGap, url, initUrl, endByte });
      isGap = false;
      endByte = Number.POSITIVE_INFINITY;
      dateMs += seconds * 1000;
    }
  }
  return segments;
}

/** Resolves with the segments of a rendition that have media, once it lists this many. */
export async function untilListed(hlsUrl: string, rendition: string, count: number): Promise<ListedSegment[]> {
  const url = await renditionUrl(hlsUrl, rendition);
  let segments: ListedSegment[] = [];
  const listed = async (): Promise<number> => {
    segments = (await listedSegments(url)).filter(({ isGap }) => !isGap);
    return segments.length;
  };
  await expect.poll(listed, { timeout: 30_000, interval: 100 }).toBeGreaterThanOrEqual(count);
  return segments;
}

/** Demuxes a video segment with an independent library. */
export async function readSegment({ initUrl, url, endByte }: ListedSegment): Promise<ReadSegment> {
  const [init, media] = await Promise.all([initUrl, url].map(fetchBytes));
  const bytes = Buffer.concat([init ?? Buffer.alloc(0), (media ?? Buffer.alloc(0)).subarray(0, endByte)]);
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new Error(`${url} has no video`);
  const first = await new EncodedPacketSink(track).getFirstPacket();
  if (!first) throw new Error(`${url} has no frame`);
  return {
    firstTicks: Math.round(first.timestamp * TICKS_PER_SECOND),
    beginsWithIdr: nalTypes(first.data).find((type) => type === IDR || type === NON_IDR) === IDR,
    frames: (await track.computePacketStats()).packetCount,
  };
}

/** ITU-T H.264 table 7-1. */
const NON_IDR = 1;
const IDR = 5;

function nalTypes(accessUnit: Uint8Array): number[] {
  const bytes = Buffer.from(accessUnit.buffer, accessUnit.byteOffset, accessUnit.byteLength);
  const types: number[] = [];
  for (let at = 0; at + 4 < bytes.length; at += 4 + bytes.readUInt32BE(at)) types.push(bytes.readUInt8(at + 4) & 0x1f);
  return types;
}

async function fetchText(url: string): Promise<string> {
  return (await fetchBytes(url)).toString();
}

async function fetchBytes(url: string): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} was answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
