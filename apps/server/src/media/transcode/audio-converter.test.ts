import { OPUS_SAMPLE_RATE, opusPacketSamples } from "@weir/formats/codecs";
import { describe, expect, it } from "vitest";
import { TICKS_PER_SECOND } from "../packet.ts";
import { CONVERTED_AAC } from "./audio-conversion.ts";
import { AudioConverter } from "./audio-converter.ts";
import { openTone, TONE_RATE } from "./generated-track.ts";
import type { AudioPacket } from "./transcode-protocol.ts";

const AAC_TICKS = (1024 * TICKS_PER_SECOND) / TONE_RATE;

/** Two seconds of a tone, as AAC. */
async function tone() {
  const track = await openTone(128_000);
  const config = (track.encoder.extraData ?? Buffer.alloc(0)).toString("base64");
  const frames: Buffer[] = [];
  while (frames.length < 94)
    for (const packet of track.next()) {
      frames.push(Buffer.from(packet.data ?? []));
      packet.free();
    }
  track.free();
  return { config, frames };
}

const convertAll = (converter: AudioConverter, frames: readonly AudioPacket[]): AudioPacket[] =>
  frames.flatMap(({ data, pts }) => converter.convert(data, pts));

const aac = (config: string) => ({ codec: "aac", config, sampleRate: TONE_RATE, channels: 2 }) as const;
const toOpus = { codec: "opus", channels: 2, bitrateBps: 96_000 } as const;

describe("an audio converter", () => {
  it("makes Opus of AAC and AAC of Opus, at the source's times", async () => {
    const { config, frames } = await tone();
    const start = 900_000;
    const converter = await AudioConverter.open(aac(config), toOpus);
    expect(converter.config).toHaveLength(0);
    const opus = convertAll(
      converter,
      frames.map((data, index) => ({ data, pts: start + index * AAC_TICKS })),
    );
    expect(opus.length).toBeGreaterThan(90);
    for (const [index, { pts, data }] of opus.entries()) {
      expect(opusPacketSamples(data)).toBe(960);
      // 312 samples are what Opus looks ahead.
      expect(pts).toBeCloseTo(start + index * 1800 - 585, -1);
    }
    const back = await AudioConverter.open(
      { codec: "opus", config: "", sampleRate: OPUS_SAMPLE_RATE, channels: 2 },
      { codec: "aac", channels: 2, bitrateBps: 128_000 },
    );
    expect(Uint8Array.from(back.config)).toEqual(CONVERTED_AAC);
    const again = convertAll(back, opus);
    expect(again.length).toBeGreaterThan(80);
    const [first, second] = again;
    expect((second?.pts ?? 0) - (first?.pts ?? 0)).toBe(1920);
  });

  it("fills a hole of the source with silence, and leaves out what cannot be decoded", async () => {
    const { config, frames } = await tone();
    const holed = frames
      .map((data, index) => ({ data: index === 20 ? Buffer.alloc(40, 0xff) : data, pts: index * AAC_TICKS }))
      .filter((_, index) => index < 40 || index >= 60);
    const opus = convertAll(await AudioConverter.open(aac(config), toOpus), holed);
    // No time is missing between two packets.
    for (const [index, { pts }] of opus.entries()) expect(Math.abs(pts - (index * 1800 - 585))).toBeLessThan(50);
    expect(opus.length).toBeGreaterThan(90);
  });
});
