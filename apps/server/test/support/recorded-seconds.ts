import { ALL_FORMATS, BufferSource, Input } from "mediabunny";

/** Total duration of an MP4's video samples in seconds, by an independent demuxer. */
export async function recordedSeconds(mp4Url: string): Promise<number> {
  const response = await fetch(mp4Url);
  if (!response.ok) throw new Error(`${mp4Url} was answered ${response.status}`);
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(await response.arrayBuffer()) });
  const video = await input.getPrimaryVideoTrack();
  const { packetCount, averagePacketRate } = (await video?.computePacketStats()) ?? {};
  if (!packetCount || !averagePacketRate) throw new Error(`${mp4Url} has no video`);
  return packetCount / averagePacketRate;
}
