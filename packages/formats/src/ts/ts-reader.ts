import { WrappedCounter } from "../bits/index.ts";
import { type PesPacket, PesReader } from "./pes-reader.ts";
import { PictureReader } from "./picture-reader.ts";
import {
  type ProgramStream,
  programMapPid,
  programStreams,
  type TsAudioCodec,
  type TsVideoCodec,
} from "./program-tables.ts";
import { SectionReader } from "./section-reader.ts";
import { soundReader } from "./sound-reader.ts";
import { TsPacketReader, type TsPayload } from "./ts-packet-reader.ts";
import { PAT_PID } from "./ts-tables.ts";

/** 100 Mbit/s at one picture per second is 12 MB. */
const MAX_PICTURE_BYTES = 12 * 1024 * 1024;
const MAX_SOUND_BYTES = 256 * 1024;
const MAX_AUDIO_TRACKS = 8;
/** A picture without a time follows the one before by as much as that one did, but no more. */
const MAX_STEP_TICKS = 90_000;

export interface TsVideoTrack {
  readonly kind: "video";
  readonly codec: TsVideoCodec;
  /** The body of `avcC` or `hvcC`. */
  readonly config: Uint8Array;
}

export interface TsAudioTrack {
  readonly kind: "audio";
  /** Its place among the audio tracks of the program: the first is 0. */
  readonly index: number;
  readonly codec: Exclude<TsAudioCodec, "aac-latm">;
  /** The AudioSpecificConfig of AAC; empty for other codecs. */
  readonly config: Uint8Array;
  readonly sampleRate: number;
  /** As declared by the program; 0 if it is not. */
  readonly channels: number;
  /** ISO 639-2 code; null if the program names none. */
  readonly language: string | null;
}

/** A picture as NAL units with 4-byte lengths, or one audio frame, in memory of `allocate`. Times are 90 kHz ticks, beyond 33 bits. */
export interface TsFrame {
  readonly kind: "video" | "audio";
  /** Of the audio track; 0 for pictures. */
  readonly index: number;
  readonly presentation: number;
  readonly decode: number;
  readonly isIndependent: boolean;
  readonly data: Uint8Array;
}

/** How many tracks a program has, whatever their codec. */
export interface TsProgram {
  readonly video: number;
  readonly audio: number;
  /** DVB subtitles and teletext. */
  readonly captions: number;
}

export interface TsReaderHandler {
  /** Precedes the frames of the track, and comes again when its configuration changes. */
  track(track: TsVideoTrack | TsAudioTrack): void;
  frame(frame: TsFrame): void;
  /** The program has media of a codec that is not read. `name` is for people. */
  unsupported(medium: "video" | "audio", name: string): void;
  /** Precedes all tracks of the program, and comes again when it changes. */
  program?(program: TsProgram): void;
}

interface PidReader {
  push(bytes: Uint8Array, start: number, end: number, isStart: boolean): void;
  lost(): void;
  flush?(): void;
}

interface OpenPid {
  readonly reader: PidReader;
  /** Of the newest packet; -1 before the first. */
  continuity: number;
}

/**
 * Reads an MPEG transport stream (ISO/IEC 13818-1) that begins anywhere: the first video stream and the audio streams of the first program. Tables may
 * come late and may change. A picture or audio frame of which a packet is missing is left out.
 */
export class TsReader {
  readonly #handler: TsReaderHandler;
  readonly #allocate: (bytes: number) => Uint8Array;
  readonly #packets = new TsPacketReader((payload) => this.#packet(payload));
  readonly #pids = new Map<number, OpenPid>();
  #streams = new Map<string, number>();
  #program: TsProgram = { video: 0, audio: 0, captions: 0 };
  #mapPid: number | null = null;
  #clock = new WrappedCounter(33);
  #damaged = 0;
  #packetCount = 0;

  constructor(handler: TsReaderHandler, allocate: (bytes: number) => Uint8Array = (bytes) => new Uint8Array(bytes)) {
    this.#handler = handler;
    this.#allocate = allocate;
    this.#open(PAT_PID, new SectionReader((section) => this.#association(section)));
  }

  /** Throws `FormatError` for media that cannot be read. */
  push(bytes: Uint8Array): void {
    this.#packets.push(bytes);
  }

  /** The stream is over: what is whole is passed on. Throws `FormatError`. */
  end(): void {
    for (const { reader } of this.#pids.values()) reader.flush?.();
  }

  /** Pictures and packets of audio that were left out, because a part of them was missing. */
  get damaged(): number {
    return this.#damaged;
  }

  /** What has been found so far. */
  get progress(): "nothing" | "packets" | "program" {
    if (this.#streams.size > 0) return "program";
    return this.#packetCount > 0 ? "packets" : "nothing";
  }

  #packet({ pid, isStart, continuity, isDiscontinuity, bytes, start, end }: TsPayload): void {
    this.#packetCount++;
    const open = this.#pids.get(pid);
    if (!open) return;
    // A packet may be sent twice (2.4.3.3).
    if (continuity === open.continuity && !isDiscontinuity) return;
    const expected = (open.continuity + 1) & 15;
    if (open.continuity >= 0 && continuity !== expected && !isDiscontinuity) open.reader.lost();
    open.continuity = continuity;
    open.reader.push(bytes, start, end, isStart);
  }

  #open(pid: number, reader: PidReader): void {
    this.#pids.set(pid, { reader, continuity: -1 });
  }

  #association(section: Uint8Array): void {
    const pid = programMapPid(section);
    if (pid === null || pid === this.#mapPid || pid === PAT_PID) return;
    if (this.#mapPid !== null) this.#pids.delete(this.#mapPid);
    this.#mapPid = pid;
    this.#open(pid, new SectionReader((map) => this.#map(map)));
  }

  #map(section: Uint8Array): void {
    const streams = programStreams(section);
    if (!streams) return;
    this.#compare(streams);
    const before = this.#streams;
    this.#streams = new Map();
    const video = streams.find(({ kind }) => kind === "video");
    const audio = streams.filter(({ kind }) => kind === "audio").slice(0, MAX_AUDIO_TRACKS);
    if (video) this.#join(before, video, 0);
    for (const [index, stream] of audio.entries()) this.#join(before, stream, index);
    for (const pid of before.values()) this.#pids.delete(pid);
    for (const stream of streams) {
      if (stream.kind !== "unsupported") continue;
      if (!(stream.medium === "video" ? video : audio[0])) this.#handler.unsupported(stream.medium, stream.name);
    }
  }

  #compare(streams: readonly ProgramStream[]): void {
    const media = streams.map((stream) => (stream.kind === "unsupported" ? stream.medium : stream.kind));
    const count = (kind: string) => media.filter((one) => one === kind).length;
    const [video, audio, captions] = [count("video"), count("audio"), count("captions")];
    const before = this.#program;
    if (video === before.video && audio === before.audio && captions === before.captions) return;
    this.#program = { video, audio, captions };
    this.#handler.program?.(this.#program);
  }

  /** A stream that was there before goes on. */
  #join(before: Map<string, number>, stream: ProgramStream, index: number): void {
    if (
      stream.kind === "unsupported" ||
      stream.kind === "captions" ||
      stream.pid === PAT_PID ||
      stream.pid === this.#mapPid
    )
      return;
    const name = `${stream.kind} ${index} ${stream.codec} ${stream.pid}`;
    this.#streams.set(name, stream.pid);
    if (before.delete(name)) return;
    this.#open(stream.pid, stream.kind === "video" ? this.#pictures(stream.codec) : this.#sound(stream, index));
  }

  #pictures(codec: TsVideoCodec): PesReader {
    const pictures = new PictureReader(codec, this.#allocate, (config) =>
      this.#handler.track({ kind: "video", codec, config }),
    );
    let last: { readonly decode: number; readonly step: number } | null = null;
    return new PesReader(MAX_PICTURE_BYTES, {
      packet: (packet) => {
        const times = this.#timesOf(packet) ?? (last && estimated(last));
        if (!times) return;
        const step = last ? times.decode - last.decode : 0;
        last = { decode: times.decode, step: step > 0 && step < MAX_STEP_TICKS ? step : (last?.step ?? 0) };
        const picture = pictures.read(packet.payload);
        if (picture) this.#handler.frame({ kind: "video", index: 0, ...times, ...picture });
      },
      lost: () => this.#damaged++,
    });
  }

  #sound({ codec, language, channels }: ProgramStream & { kind: "audio" }, index: number): PesReader {
    const sound = soundReader(codec, {
      configured: (config, sampleRate) =>
        this.#handler.track({
          ...{ kind: "audio", index, config, sampleRate, channels, language },
          codec: codec === "aac-latm" ? "aac" : codec,
        }),
      frame: (bytes, presentation) => {
        const data = this.#allocate(bytes.length);
        data.set(bytes);
        this.#handler.frame({ kind: "audio", index, presentation, decode: presentation, isIndependent: true, data });
      },
    });
    return new PesReader(MAX_SOUND_BYTES, {
      packet: (packet) => sound.push(packet.payload, this.#timesOf(packet)?.presentation ?? null),
      lost: () => {
        this.#damaged++;
        sound.lost();
      },
    });
  }

  /** One clock for all streams of the program, so that they wrap together. */
  #timesOf({ presentation, decode }: PesPacket): { readonly presentation: number; readonly decode: number } | null {
    if (presentation === null || decode === null) return null;
    const unwrapped = this.#clock.unwrap(decode);
    const ahead = (presentation - decode + 2 ** 33) % 2 ** 33;
    return { decode: unwrapped, presentation: unwrapped + (ahead < 2 ** 32 ? ahead : 0) };
  }
}

function estimated({ decode, step }: { readonly decode: number; readonly step: number }) {
  return { decode: decode + step, presentation: decode + step };
}
