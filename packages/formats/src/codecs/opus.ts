/** Opus timestamps always count at 48 kHz, whatever the encoder's input rate (RFC 7845 4). */
export const OPUS_SAMPLE_RATE = 48_000;

/** RFC 6716 3.1, table 2: samples per frame of each configuration. */
const SILK = [480, 960, 1920, 2880];
const HYBRID = [480, 960];
const CELT = [120, 240, 480, 960];
/** RFC 6716 3.2.5: a packet lasts at most 120 ms. */
const MAX_PACKET_SAMPLES = 5760;

/** Number of samples that a packet decodes to, from its first two bytes (RFC 6716 3.1 and 3.2). Returns 0 for invalid packets. */
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

/**
 * 20 ms of silence: one CELT frame whose range coder reads the silence flag first. Valid in mono and stereo tracks, since each packet has its own
 * stereo flag.
 */
export const SILENT_OPUS_PACKET = Uint8Array.of(0xf8, 0xff, 0xfe);
