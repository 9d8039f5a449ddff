/** Opus always counts at 48 kHz, whatever rate the encoder was fed with (RFC 7845 4). */
export const OPUS_SAMPLE_RATE = 48_000;

/** RFC 6716 3.1, table 2: samples per frame of each configuration. */
const SILK = [480, 960, 1920, 2880];
const HYBRID = [480, 960];
const CELT = [120, 240, 480, 960];
/** RFC 6716 3.2.5: a packet lasts 120 ms at most. */
const MAX_PACKET_SAMPLES = 5760;

/** How many samples a packet decodes to, by its first one or two bytes (RFC 6716 3.1 and 3.2). 0 for what is no Opus packet. */
export function opusPacketSamples(packet: Uint8Array): number {
  const [toc, count = 0] = packet;
  if (toc === undefined) return 0;
  const code = toc & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : count & 63;
  const samples = frames * frameSamples(toc >> 3);
  return samples <= MAX_PACKET_SAMPLES ? samples : 0;
}

function frameSamples(configuration: number): number {
  if (configuration < 12) return SILK[configuration & 3] ?? 0;
  if (configuration < 16) return HYBRID[configuration & 1] ?? 0;
  return CELT[configuration & 3] ?? 0;
}

/** 20 ms of silence: one CELT frame whose range coder reads the flag for silence first. It fits mono and stereo, since each packet has a flag of its own. */
export const SILENT_OPUS_PACKET = Uint8Array.of(0xf8, 0xff, 0xfe);
