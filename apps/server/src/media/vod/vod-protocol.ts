import type { StoredSegment, StoredTrack, VideoSpec } from "../../ports/index.ts";
import type { TranscodeRung } from "../transcode/transcode-protocol.ts";

/**
 * The messages between a child that works on a file and its parent. The child gets its jobs as lines of JSON on file descriptor 3; its messages
 * leave by descriptor 4. From descriptor 5 on it has the file, opened twice for each job.
 *
 * A message is a uint32, the length of its JSON; a uint32, the length of the bytes behind that; the JSON and the bytes. Big-endian.
 * Ticks are of 90 kHz and count on the asset's timeline, which begins with the first picture that is decoded.
 */

/** A child that is asked for more is replaced. */
export const MAX_JOBS = 8;
/** A reader that is opened on a descriptor begins where the last one left it, so each has its own. A job reads the file twice at most. */
export const SOURCES_PER_JOB = 2;

/** Look into the file, and read it through once: the source's own rendition, the sound, and where segments begin. */
export interface ScanJob {
  readonly type: "scan";
  readonly epoch: number;
  readonly segmentSeconds: number;
  /** False after a scan that found that the pictures cannot be played as they are. */
  readonly mayCopyVideo: boolean;
}

/** Make some segments of all rungs. */
export interface EncodeJob {
  readonly type: "encode";
  readonly epoch: number;
  readonly picture: ScannedPicture;
  readonly rungs: readonly NamedRung[];
  readonly preset: string;
  /** How long before it is shown a picture is decoded, as are the pictures beside which these are put; 0 where they are alone. */
  readonly delayTicks: number;
  readonly segments: readonly SegmentStart[];
  /** Where the segment behind the last one begins. */
  readonly endTicks: number;
}

export type VodJob = ScanJob | EncodeJob;

export interface NamedRung extends TranscodeRung {
  readonly rendition: string;
}

export interface SegmentStart {
  readonly msn: number;
  readonly ticks: number;
  /** A decoder can begin here. */
  readonly isKeyframe: boolean;
}

/** The pictures of a file. */
export interface ScannedPicture {
  /** Number of the track in the file. */
  readonly stream: number;
  /** The offset between the file's times and the timeline. */
  readonly offsetTicks: number;
  /** As a viewer sees them: upright, with square pixels. */
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  readonly bitrateBps: number;
  readonly isCopied: boolean;
  readonly segments: readonly SegmentStart[];
  readonly endTicks: number;
}

export interface ScannedFile {
  readonly spec: VideoSpec;
  /** Null for sound alone. */
  readonly picture: ScannedPicture | null;
}

export type StoredRow = StoredSegment;

/** A file of one rendition that is complete. */
export interface MadeSpan {
  readonly type: "span";
  readonly rendition: string;
  readonly span: string;
  readonly track: StoredTrack;
  readonly segments: readonly StoredRow[];
}

export type VodMessage =
  | { readonly type: "spec"; readonly spec: VideoSpec }
  /** With the bytes of an init segment. */
  | { readonly type: "init"; readonly rendition: string; readonly file: string }
  /** With the bytes of the span. */
  | MadeSpan
  /** From 0 to 1; told at least every second while there is work. */
  | { readonly type: "progress"; readonly done: number }
  | { readonly type: "scanned"; readonly file: ScannedFile }
  | { readonly type: "encoded" }
  /** The pictures cannot be played as they are: scan again without. */
  | { readonly type: "cannot-copy"; readonly reason: string }
  /** The file is at fault, however often it is tried. For its owner. */
  | { readonly type: "refused"; readonly sentence: string };

export interface FramedMessage {
  readonly message: VodMessage;
  readonly bytes: Uint8Array;
}

const HEAD = 8;
/** A span is cut at 8 MiB, and a segment is refused above twice that. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export function frameMessage(message: VodMessage, bytes: readonly Uint8Array[] = []): Uint8Array[] {
  const json = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(json.byteLength, 0);
  head.writeUInt32BE(
    bytes.reduce((sum, { byteLength }) => sum + byteLength, 0),
    4,
  );
  return [head, json, ...bytes];
}

/** The messages that a child's pipe brings. Throws on bytes that are none. */
export async function* readMessages(pipe: AsyncIterable<Uint8Array>): AsyncGenerator<FramedMessage, void> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  let wanted = HEAD;
  for await (const piece of pipe) {
    waiting.push(piece);
    length += piece.byteLength;
    while (length >= wanted) {
      const all = Buffer.concat(waiting);
      const jsonBytes = all.readUInt32BE(0);
      wanted = HEAD + jsonBytes + all.readUInt32BE(4);
      if (wanted > MAX_MESSAGE_BYTES) throw new RangeError(`a message of ${wanted} bytes from a media child`);
      waiting = [all];
      if (length < wanted) break;
      yield {
        message: JSON.parse(all.toString("utf8", HEAD, HEAD + jsonBytes)),
        bytes: all.subarray(HEAD + jsonBytes, wanted),
      };
      waiting = [all.subarray(wanted)];
      length -= wanted;
      wanted = HEAD;
    }
  }
}
