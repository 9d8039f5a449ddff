import { describeAvc } from "../codecs/index.ts";
import { box, descriptor, fullBox, uint16, uint32, zeros } from "./box.ts";

/** A video track as its init segment describes it. `config` is the body of `avcC`, `hvcC` or `av1C`; sizes are in pixels. */
export interface VideoInitTrack {
  readonly kind: "video";
  readonly codec: "avc" | "hevc" | "av1";
  readonly config: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** Ticks per second of the fragments. */
  readonly timescale: number;
}

/** An audio track as its init segment describes it. `config` is the AudioSpecificConfig, or the body of `dOps`. */
export interface AudioInitTrack {
  readonly kind: "audio";
  readonly codec: "aac" | "opus";
  readonly config: Uint8Array;
  readonly sampleRate: number;
  readonly channels: number;
  /** Ticks per second of the fragments; equal to the sample rate. */
  readonly timescale: number;
}

export type InitTrack = VideoInitTrack | AudioInitTrack;

/** Sample aspect ratio, width to height, if the parameter sets declare one that is not square; null otherwise. */
export function sampleAspect(track: VideoInitTrack): readonly [number, number] | null {
  return track.codec === "avc" ? describeAvc(track.config).sampleAspect : null;
}

/** The only entry of the track's `stsd`. It has no colour box: decoders read colour from the parameter sets. */
export function sampleEntry(track: InitTrack): Uint8Array {
  return track.kind === "video" ? videoSampleEntry(track) : audioSampleEntry(track);
}

// hvc1 rather than hev1: parameter sets are in the entry only (ISO/IEC 14496-15 5.4.2.1 and 8.4.1, AV1 in ISOBMFF 2.2).
const VIDEO_BOXES = { avc: ["avc1", "avcC"], hevc: ["hvc1", "hvcC"], av1: ["av01", "av1C"] } as const;

/** ISO/IEC 14496-12 8.5.2.2: reserved bytes, then data_reference_index. */
const ENTRY_HEADER = uint16(0, 0, 0, 1);

/** ISO/IEC 14496-12 12.1.3. */
function videoSampleEntry(track: VideoInitTrack): Uint8Array {
  const [entry, config] = VIDEO_BOXES[track.codec];
  const aspect = sampleAspect(track);
  return box(
    entry,
    ENTRY_HEADER,
    zeros(16),
    uint16(track.width, track.height),
    uint32(0x0048_0000, 0x0048_0000, 0), // 72 dpi
    uint16(1), // frames per sample
    zeros(32), // compressor name
    uint16(0x0018, 0xffff), // colour without alpha; pre_defined -1
    box(config, track.config),
    ...(aspect ? [box("pasp", uint32(...aspect))] : []),
  );
}

/** ISO/IEC 14496-12 12.2.3, with the decoder configuration of AAC (14496-14 5.6) or Opus (Encapsulation of Opus in ISO BMFF 4.3). */
function audioSampleEntry(track: AudioInitTrack): Uint8Array {
  const isOpus = track.codec === "opus";
  // 16.16 fixed point. Rates over 16 bits are written as 0; players take them from the AudioSpecificConfig. Opus is always 48 kHz.
  const rate = track.sampleRate < 0x1_0000 ? track.sampleRate : 0;
  return box(
    isOpus ? "Opus" : "mp4a",
    ENTRY_HEADER,
    zeros(8),
    uint16(track.channels, 16, 0, 0),
    uint32(rate * 0x1_0000),
    isOpus ? box("dOps", track.config) : elementaryStream(track.config),
  );
}

const OBJECT_MPEG4_AUDIO = 0x40;
const STREAM_AUDIO = 0x15;

/** `esds`: an ES_Descriptor with DecoderConfigDescriptor, DecoderSpecificInfo and SLConfigDescriptor 2. */
function elementaryStream(config: Uint8Array): Uint8Array {
  const decoder = descriptor(4, Uint8Array.of(OBJECT_MPEG4_AUDIO, STREAM_AUDIO), zeros(11), descriptor(5, config));
  return fullBox("esds", 0, 0, descriptor(3, zeros(3), decoder, descriptor(6, Uint8Array.of(2))));
}
