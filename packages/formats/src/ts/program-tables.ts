const CRC_BYTES = 4;
/** table_id to last_section_number. */
const TABLE_HEAD_BYTES = 8;
const PAT_TABLE = 0x00;
const PMT_TABLE = 0x02;

/** Descriptor tags: ISO/IEC 13818-1 table 2-45, and ETSI EN 300 468 table 12. */
const TAG = {
  ...{ registration: 0x05, language: 0x0a, teletext: 0x56, subtitling: 0x59 },
  ...{ ac3: 0x6a, enhancedAc3: 0x7a, extension: 0x7f },
};
/** channel_config_code of Opus in TS, in a user-defined extension descriptor. */
const OPUS_EXTENSION = 0x80;

export type TsVideoCodec = "avc" | "hevc";
export type TsAudioCodec = "aac" | "aac-latm" | "opus" | "mp2" | "ac3" | "eac3";

interface Common {
  readonly pid: number;
}

/** An elementary stream that carries media, or captions. */
export type ProgramStream =
  | (Common & { readonly kind: "video"; readonly codec: TsVideoCodec })
  | (Common & {
      readonly kind: "audio";
      readonly codec: TsAudioCodec;
      /** ISO 639-2 code; null if the program names none. */
      readonly language: string | null;
      /** As the table declares them, which only Opus needs; 0 if it does not. */
      readonly channels: number;
    })
  | (Common & { readonly kind: "captions" })
  /** `name` is for people. */
  | (Common & { readonly kind: "unsupported"; readonly medium: "video" | "audio"; readonly name: string });

/** ISO/IEC 13818-1 table 2-34, and the registrations of ATSC. */
const VIDEO_TYPES: Readonly<Record<number, TsVideoCodec>> = { 27: "avc", 36: "hevc" };
const AUDIO_TYPES: Readonly<Record<number, TsAudioCodec>> = {
  ...{ 3: "mp2", 4: "mp2", 15: "aac", 17: "aac-latm", 129: "ac3", 135: "eac3" },
};
const UNSUPPORTED_VIDEO: Readonly<Record<number, string>> = {
  ...{ 1: "MPEG-1", 2: "MPEG-2", 16: "MPEG-4 part 2", 33: "JPEG 2000", 50: "JPEG XS", 51: "H.266" },
  ...{ 66: "AVS", 209: "Dirac", 234: "VC-1" },
};
const UNSUPPORTED_AUDIO: Readonly<Record<number, string>> = {
  ...{ 28: "raw AAC", 45: "MPEG-H", 46: "MPEG-H", 130: "DTS", 131: "Dolby TrueHD", 133: "DTS-HD" },
  ...{ 134: "DTS-HD", 136: "DTS" },
};
const REGISTERED: Readonly<Record<string, TsVideoCodec | TsAudioCodec>> = {
  ...{ HEVC: "hevc", Opus: "opus", "AC-3": "ac3", EAC3: "eac3" },
};
const REGISTERED_UNSUPPORTED: Readonly<Record<string, readonly ["video" | "audio", string]>> = {
  ...{ AV01: ["video", "AV1"], "VC-1": ["video", "VC-1"], BSSD: ["audio", "SMPTE 302M"] },
  ...{ DTS1: ["audio", "DTS"], DTS2: ["audio", "DTS"], DTS3: ["audio", "DTS"] },
};

/** The PID of the first program's map; null if the table is another one, or has no program (ISO/IEC 13818-1 2.4.4.3). */
export function programMapPid(section: Uint8Array): number | null {
  if (section[0] !== PAT_TABLE) return null;
  for (let at = TABLE_HEAD_BYTES; at + 4 <= section.length - CRC_BYTES; at += 4) {
    const program = uint16(section, at);
    // Program 0 is the network's.
    if (program !== 0) return uint16(section, at + 2) & 0x1fff;
  }
  return null;
}

/** The audio, video and captions of a program map; null if the table is another one (2.4.4.8). What is none of them is left out. */
export function programStreams(section: Uint8Array): ProgramStream[] | null {
  if (section[0] !== PMT_TABLE) return null;
  const end = section.length - CRC_BYTES;
  const streams: ProgramStream[] = [];
  let at = TABLE_HEAD_BYTES + 4 + (uint16(section, TABLE_HEAD_BYTES + 2) & 0x0fff);
  while (at + 5 <= end) {
    const type = section[at] ?? 0;
    const pid = uint16(section, at + 1) & 0x1fff;
    const first = at + 5;
    at = first + (uint16(section, at + 3) & 0x0fff);
    const stream = streamOf(pid, type, descriptorsOf(section.subarray(first, Math.min(at, end))));
    if (stream) streams.push(stream);
  }
  return streams;
}

type Descriptors = ReadonlyMap<number, Uint8Array>;

function streamOf(pid: number, type: number, descriptors: Descriptors): ProgramStream | null {
  const registration = latin1(descriptors.get(TAG.registration)?.subarray(0, 4) ?? new Uint8Array(0));
  // A private stream is what its descriptors say.
  const isPrivate = type === 0x06;
  const codec = isPrivate ? privateCodec(descriptors, registration) : (VIDEO_TYPES[type] ?? AUDIO_TYPES[type]);
  if (codec === "avc" || codec === "hevc") return { pid, kind: "video", codec };
  if (codec) {
    const language = languageOf(descriptors.get(TAG.language));
    return { pid, kind: "audio", codec, language, channels: opusChannels(descriptors.get(TAG.extension)) };
  }
  if (isPrivate && (descriptors.has(TAG.teletext) || descriptors.has(TAG.subtitling))) return { pid, kind: "captions" };
  const [medium, name] =
    (isPrivate ? REGISTERED_UNSUPPORTED[registration] : null) ??
    (UNSUPPORTED_VIDEO[type] ? (["video", UNSUPPORTED_VIDEO[type]] as const) : ["audio", UNSUPPORTED_AUDIO[type]]);
  return name === undefined ? null : { pid, kind: "unsupported", medium, name };
}

function privateCodec(descriptors: Descriptors, registration: string): TsVideoCodec | TsAudioCodec | undefined {
  if (descriptors.has(TAG.ac3)) return "ac3";
  if (descriptors.has(TAG.enhancedAc3)) return "eac3";
  return REGISTERED[registration];
}

/** The first descriptor of each tag. */
function descriptorsOf(bytes: Uint8Array): Descriptors {
  const descriptors = new Map<number, Uint8Array>();
  for (let at = 0; at + 2 <= bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    const tag = bytes[at] ?? 0;
    if (!descriptors.has(tag)) descriptors.set(tag, bytes.subarray(at + 2, at + 2 + (bytes[at + 1] ?? 0)));
  }
  return descriptors;
}

function languageOf(descriptor: Uint8Array | undefined): string | null {
  const code = latin1(descriptor?.subarray(0, 3) ?? new Uint8Array(0)).toLowerCase();
  return /^[a-z]{3}$/.test(code) && code !== "und" ? code : null;
}

/** 0 is dual mono. */
function opusChannels(descriptor: Uint8Array | undefined): number {
  const [extension, code = 0] = descriptor ?? [];
  if (extension !== OPUS_EXTENSION) return 0;
  return code === 0 ? 2 : code;
}

const uint16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
