import { ascii, box, concat, fullBox, uint16, uint32, uint64, zeros } from "./box.ts";
import { AUDIO_TRACK_ID, VIDEO_TRACK_ID } from "./fragment.ts";
import { type InitTrack, sampleAspect, sampleEntry } from "./sample-entry.ts";

// The timescale of `mvhd` and `mehd` only. Each track has its own.
const MOVIE_TIMESCALE = 1000;

/**
 * Writes the CMAF header of one track: `ftyp` and `moov` without samples and edit lists. Track id 1 is video, 2 audio. Throws `FormatError` for an
 * unreadable AVC configuration.
 */
export function initSegment(track: InitTrack): Uint8Array {
  return concat([fileType("iso6", "cmfc"), movie([{ track }])]);
}

/** A track of a joint file, whose fragments come from files with their own init segments. */
export interface JointTrack {
  readonly track: InitTrack;
  /** A complete sample entry that replaces the one built from `track`. */
  readonly sampleEntry?: Uint8Array;
}

/** Writes `ftyp` and `moov` of a progressive file that the fragments of all `tracks` follow. It declares the total duration. */
export function jointInit(tracks: readonly JointTrack[], durationSeconds: number): Uint8Array {
  const duration = fullBox("mehd", 1, 0, uint64(Math.round(durationSeconds * MOVIE_TIMESCALE)));
  return concat([fileType("iso6", "mp41"), movie(tracks, duration)]);
}

/** The first brand is also the major brand. `iso6` covers `tfdt` and `sidx`. */
function fileType(...brands: readonly [string, ...string[]]): Uint8Array {
  return box("ftyp", ascii(brands[0]), uint32(0), ...brands.map(ascii));
}

/** ISO/IEC 14496-12 8.2 and 8.8. */
function movie(tracks: readonly JointTrack[], ...extendsHeader: readonly Uint8Array[]): Uint8Array {
  const defaults = tracks.map(({ track }) => fullBox("trex", 0, 0, uint32(trackId(track), 1, 0, 0, 0)));
  return box("moov", movieHeader(), ...tracks.map(trackBox), box("mvex", ...extendsHeader, ...defaults));
}

function trackId(track: InitTrack): number {
  return track.kind === "video" ? VIDEO_TRACK_ID : AUDIO_TRACK_ID;
}

const IDENTITY_MATRIX = uint32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);
const FULL_VOLUME = 0x0100;

function movieHeader(): Uint8Array {
  const nextTrackId = AUDIO_TRACK_ID + 1;
  return fullBox(
    "mvhd",
    0,
    0,
    uint32(0, 0, MOVIE_TIMESCALE, 0, 0x1_0000), // times, timescale, duration (0: the moov has no samples), rate
    uint16(FULL_VOLUME),
    zeros(10),
    IDENTITY_MATRIX,
    zeros(24),
    uint32(nextTrackId),
  );
}

function trackBox({ track, sampleEntry: entry = sampleEntry(track) }: JointTrack): Uint8Array {
  const information = mediaInformation(track, entry);
  return box("trak", trackHeader(track), box("mdia", mediaHeader(track), handler(track), information));
}

const ENABLED_IN_MOVIE_AND_PREVIEW = 7;

function trackHeader(track: InitTrack): Uint8Array {
  let size = [0, 0];
  if (track.kind === "video") {
    const [horizontal, vertical] = sampleAspect(track) ?? [1, 1];
    size = [Math.round((track.width * horizontal) / vertical), track.height];
  }
  return fullBox(
    "tkhd",
    0,
    ENABLED_IN_MOVIE_AND_PREVIEW,
    uint32(0, 0, trackId(track), 0, 0, 0, 0), // times, id, reserved, duration, reserved
    uint16(0, 0, track.kind === "audio" ? FULL_VOLUME : 0, 0), // layer, alternate group, volume
    IDENTITY_MATRIX,
    uint16(...size.flatMap((pixels) => [pixels, 0])), // 16.16 fixed point
  );
}

const LANGUAGE_UNDETERMINED = 0x55c4; // "und" in three groups of five bits

function mediaHeader(track: InitTrack): Uint8Array {
  return fullBox("mdhd", 0, 0, uint32(0, 0, track.timescale, 0), uint16(LANGUAGE_UNDETERMINED, 0));
}

function handler(track: InitTrack): Uint8Array {
  const [type, name] = track.kind === "video" ? ["vide", "video\0"] : ["soun", "audio\0"];
  return fullBox("hdlr", 0, 0, uint32(0), ascii(type), zeros(12), ascii(name));
}

const DATA_IN_THIS_FILE = 1;

function mediaInformation(track: InitTrack, entry: Uint8Array): Uint8Array {
  const header = track.kind === "video" ? fullBox("vmhd", 0, 1, zeros(8)) : fullBox("smhd", 0, 0, zeros(4));
  const dataReference = fullBox("dref", 0, 0, uint32(1), fullBox("url ", 0, DATA_IN_THIS_FILE));
  return box("minf", header, box("dinf", dataReference), emptySampleTable(entry));
}

function emptySampleTable(entry: Uint8Array): Uint8Array {
  return box(
    "stbl",
    fullBox("stsd", 0, 0, uint32(1), entry),
    fullBox("stts", 0, 0, uint32(0)),
    fullBox("stsc", 0, 0, uint32(0)),
    fullBox("stsz", 0, 0, uint32(0, 0)),
    fullBox("stco", 0, 0, uint32(0)),
  );
}
