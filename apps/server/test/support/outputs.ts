import { ALL_FORMATS, BufferSource, Input } from "mediabunny";
import { expect } from "vitest";
import type { WeirServer } from "./weir-server.ts";

/** The live playlist of the source; empty if there is none yet. */
export async function sourcePlaylist(hlsUrl: string): Promise<string> {
  const [address] = /^s\/.*\/source\/index\.m3u8/m.exec(await textOf(hlsUrl)) ?? [];
  return address === undefined ? "" : textOf(new URL(address, hlsUrl).href);
}

/** Waits until the live playlist of the source has parts. */
export async function expectLowLatency(hlsUrl: string): Promise<void> {
  await expect.poll(() => sourcePlaylist(hlsUrl)).toContain("#EXT-X-PART:");
}

/** Checks that the stream's newest session has HLS and an MP4 with audio and video. */
export async function expectRecorded({ client }: WeirServer, streamId: string): Promise<void> {
  const newest = async () => (await client.sessions.ofStream(streamId)).items[0];
  await expect.poll(async () => (await newest())?.recordingStatus, { timeout: 20_000 }).toBe("ready");
  const { recordingUrl = "", mp4Url = "" } = (await newest()) ?? {};
  const list = await textOf(recordingUrl);
  const addresses = [...list.matchAll(/[^\n"]*\/(?:source|audio)\/index\.m3u8/g)].map(([address]) => address);
  expect(addresses).toHaveLength(2);
  for (const address of addresses)
    expect(await textOf(new URL(address, recordingUrl).href)).toMatch(/#EXTINF.*#EXT-X-ENDLIST/s);
  const source = new BufferSource(await fetch(mp4Url).then((answer) => answer.arrayBuffer()));
  const file = new Input({ formats: ALL_FORMATS, source });
  const [video, audio] = [await file.getPrimaryVideoTrack(), await file.getPrimaryAudioTrack()];
  expect([video?.codec, audio?.codec]).toEqual(["avc", "aac"]);
}

const textOf = (url: string): Promise<string> => fetch(url).then((answer) => answer.text());
