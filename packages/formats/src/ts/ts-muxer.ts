import { AccessUnits } from "./access-unit.ts";
import { ADTS_HEAD_BYTES, AdtsHeads } from "./adts.ts";
import { AUDIO_STREAM, type PesTimes, pesHeadBytes, putPesHead, VIDEO_STREAM } from "./pes-head.ts";
import { type Adaptation, packetsBytes, TS_PACKET_BYTES, TsPid } from "./ts-pid.ts";
import { AUDIO_PID, PAT, PAT_PID, PMT_PID, programMap, type TableEntry, VIDEO_PID } from "./ts-tables.ts";

/** The tracks of a transport stream, at most one of each kind. */
export interface TsTracks {
  /** `config` is the body of `avcC` or `hvcC`. */
  readonly video: { readonly codec: "avc" | "hevc"; readonly config: Uint8Array } | null;
  /** `config` is an AudioSpecificConfig. */
  readonly audio: { readonly config: Uint8Array } | null;
}

/** A picture as NAL units with 4-byte lengths, or one AAC frame. Times are 90 kHz ticks, starting at 0. */
export interface TsUnit {
  readonly kind: "video" | "audio";
  readonly decodeTicks: number;
  readonly presentationTicks: number;
  readonly isIndependent: boolean;
  readonly data: Uint8Array;
}

/** Added to all timestamps, so that the program clock runs this far behind: audio may be sent this much later than its picture. */
const LEAD_TICKS = 45_000;
/** Maximum interval between clock references. The standard allows 100 ms (ISO/IEC 13818-1 2.7.2). */
const CLOCK_TICKS = 90 * 90;
/** Tables are sent before each keyframe, and at least this often. */
const TABLES_TICKS = 45_000;
const FIRST_SCRATCH_BYTES = 64 * 1024;

/** Writes an MPEG transport stream (ISO/IEC 13818-1) of one program with H.264 or H.265 and AAC. Each unit gets its own PES packet. */
export class TsMuxer {
  readonly #pat = new TsPid(PAT_PID);
  readonly #pmt = new TsPid(PMT_PID);
  readonly #video = new TsPid(VIDEO_PID);
  readonly #audio = new TsPid(AUDIO_PID);
  #pictures: AccessUnits | null = null;
  #frames: AdtsHeads | null = null;
  #map: Uint8Array | null = null;
  #codecs = "";
  #version = 0;
  /** The current PES packet before it is split into transport packets. */
  #pes = new Uint8Array(FIRST_SCRATCH_BYTES);
  #clockTicks = Number.NEGATIVE_INFINITY;
  #tablesTicks = Number.NEGATIVE_INFINITY;

  /** Sets the tracks of the units that follow. Throws `FormatError` for tracks that a transport stream cannot describe. */
  begin({ video, audio }: TsTracks): void {
    this.#pictures = video && new AccessUnits(video.codec, video.config);
    this.#frames = audio && new AdtsHeads(audio.config);
    const entries: TableEntry[] = [];
    if (video) entries.push({ pid: VIDEO_PID, codec: video.codec });
    if (audio) entries.push({ pid: AUDIO_PID, codec: "aac" });
    const codecs = entries.map(({ codec }) => codec).join();
    if (this.#map && codecs !== this.#codecs) this.#version = (this.#version + 1) & 31;
    this.#codecs = codecs;
    this.#map = programMap(this.#version, video ? VIDEO_PID : AUDIO_PID, entries);
    this.#tablesTicks = Number.NEGATIVE_INFINITY;
  }

  /** `allocate` must return a buffer of exactly the given size; the packets are written into it. Throws `FormatError` for a malformed unit. */
  write(unit: TsUnit, allocate: (bytes: number) => Uint8Array): void {
    const map = this.#map;
    if (!map) throw new Error("write() needs begin() first");
    const { kind } = unit;
    const decodeTicks = Math.round(unit.decodeTicks);
    const times = { decode: decodeTicks + LEAD_TICKS, presentation: Math.round(unit.presentationTicks) + LEAD_TICKS };
    const bytes = kind === "video" ? this.#gatherPicture(unit, times) : this.#gatherFrame(unit, times);
    const hasTables = this.#needsTables(unit);
    const isClock = kind === "video" || !this.#pictures;
    const isClockDue = decodeTicks > this.#clockTicks && (isClock || decodeTicks - this.#clockTicks >= CLOCK_TICKS);
    const adaptation: Adaptation = {
      isRandomAccess: isClock && unit.isIndependent,
      clockTicks: isClock && isClockDue ? decodeTicks : null,
    };
    const extraPackets = (hasTables ? 2 : 0) + (isClockDue && !isClock ? 1 : 0);
    const out = allocate(extraPackets * TS_PACKET_BYTES + packetsBytes(bytes, adaptation));
    let at = 0;
    if (hasTables) {
      at = this.#pat.put(out, at, PAT, PAT.length);
      at = this.#pmt.put(out, at, map, map.length);
      this.#tablesTicks = decodeTicks;
    }
    if (isClockDue && !isClock) at = this.#video.putClock(out, at, decodeTicks);
    if (isClockDue) this.#clockTicks = decodeTicks;
    (kind === "video" ? this.#video : this.#audio).put(out, at, this.#pes, bytes, adaptation);
  }

  #needsTables({ kind, isIndependent, decodeTicks }: TsUnit): boolean {
    return (kind === "video" && isIndependent) || decodeTicks - this.#tablesTicks >= TABLES_TICKS;
  }

  #gatherPicture({ data, isIndependent }: TsUnit, times: PesTimes): number {
    if (!this.#pictures) throw new Error("a picture for a transport stream without a video track");
    const head = pesHeadBytes(times);
    this.#reserve(head + this.#pictures.maxBytes(data));
    const end = this.#pictures.put(this.#pes, head, data, isIndependent);
    putPesHead(this.#pes, VIDEO_STREAM, end - head, times);
    return end;
  }

  #gatherFrame({ data }: TsUnit, times: PesTimes): number {
    if (!this.#frames) throw new Error("audio for a transport stream without an audio track");
    const head = pesHeadBytes(times);
    const bytes = ADTS_HEAD_BYTES + data.length;
    this.#reserve(head + bytes);
    putPesHead(this.#pes, AUDIO_STREAM, bytes, times);
    this.#frames.put(this.#pes, head, data.length);
    this.#pes.set(data, head + ADTS_HEAD_BYTES);
    return head + bytes;
  }

  #reserve(bytes: number): void {
    if (this.#pes.length < bytes) this.#pes = new Uint8Array(2 * bytes);
  }
}
