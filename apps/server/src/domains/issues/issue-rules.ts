import type { SegmentTranscoded, SourceMetrics, SrtMeasure } from "../../ports/index.ts";
import type { IssueCode, OpenIssue } from "../open-issue.ts";

/**
 * A rule's verdict on a fact: an issue, "well", or no verdict (the fact is not about this rule, or lies between the two thresholds). "better" is
 * as good as "well", but not for long enough to close the issue.
 */
export type Verdict = Omit<OpenIssue, "code" | "since"> | "well" | "better" | "as-is";

export type Rules<Fact> = Readonly<Partial<Record<IssueCode, (fact: Fact) => Verdict>>>;

/** Keyframes every 2 s give playlists a target duration of 2 s; from here on it is 4 s. */
const KEYFRAMES_WELL_MS = 2400;
const KEYFRAMES_SLOW_MS = 2500;
const KEYFRAMES_KNOWN_SECONDS = 10;
/** The longest segment starts with a keyframe every 4 s. */
const KEYFRAMES_LATE_MS = 4500;
const NO_KEYFRAMES_MS = 20_000;
const STARVED_SECONDS = 3;
/** The second track of a new publisher may arrive a moment after the first. */
const SECONDS_TO_KNOW = 3;
/** Healthy rungs are less than half a second behind. */
const LATE_LADDER_MS = 1500;
/** Of SRT's packets, at the first try. */
const MUCH_LOSS = 0.1;
/** A packet that is lost twice needs three round trips, and some more for the jitter. */
const ROUND_TRIPS = 4;
const BETTER_NETWORK = "Lower the bitrate of the encoder, or use a wired or less busy connection.";
const GIB = 2 ** 30;
const DISK = { low: { bytes: GIB, minutes: 30 }, well: { bytes: 2 * GIB, minutes: 60 } };

/** Pictures after a recovery point may need earlier ones, and browsers do not start there. Only IDR pictures count. */
const CLOSED_GOP =
  "If it is set, turn open GOP off (x264: open-gop=0, x265: no-open-gop): only IDR pictures count as keyframes.";

const inSeconds = (ms: number): string => (ms / 1000).toFixed(1);
const harmful = (sentence: string, evidence: string, remedy: string): Verdict => ({
  sentence,
  evidence,
  remedy,
  isHarmful: true,
});

const lossOf = ({ fractionLost, roundTripMs, latencyMs }: SrtMeasure): string =>
  `${Math.round(fractionLost * 100)} % of the packets were lost at the first try; the round trip is ${Math.ceil(roundTripMs ?? 0)} ms, the SRT latency ${latencyMs} ms.`;

/** The issues that the metrics of a source and of its ladder show. */
export const metricsRules: Rules<SourceMetrics> = {
  "keyframe-interval-too-long": ({ source: { keyframeIntervalMs: ms, measuredSeconds } }) => {
    if (ms === null || ms <= KEYFRAMES_WELL_MS || ms >= NO_KEYFRAMES_MS) return "well";
    // Before this time, the interval may be the first part of a much longer one.
    if (ms < KEYFRAMES_SLOW_MS || (ms < KEYFRAMES_LATE_MS && measuredSeconds < KEYFRAMES_KNOWN_SECONDS)) return "as-is";
    if (ms < KEYFRAMES_LATE_MS) {
      return {
        sentence: `The keyframe interval is ${inSeconds(ms)} s.`,
        evidence: `${inSeconds(ms)} s without a keyframe; players without low latency start 12 s and more behind instead of 6 s to 8 s, and the stream's first session has segments that no player can start at.`,
        remedy: "Set the keyframe interval of the encoder to 2 s.",
        isHarmful: false,
      };
    }
    return harmful(
      `The keyframe interval is at least ${inSeconds(ms)} s.`,
      `${inSeconds(ms)} s without a keyframe; after 4 s a segment is cut without one, and players cannot start or switch there.`,
      `Set the keyframe interval of the encoder to 2 s. ${CLOSED_GOP}`,
    );
  },

  "no-keyframes": ({ source: { keyframeIntervalMs: ms } }) => {
    if (ms === null || ms < NO_KEYFRAMES_MS) return "well";
    return harmful(
      "No keyframes come.",
      `${inSeconds(ms)} s without a keyframe; nobody can start watching meanwhile.`,
      `Set the keyframe interval of the encoder to 2 s and restart it. ${CLOSED_GOP}`,
    );
  },

  "audio-missing": ({ source: { audio, video, measuredSeconds } }) => {
    if (audio === "flowing") return "well";
    if (video !== "flowing" || (audio === "none" && measuredSeconds < SECONDS_TO_KNOW)) return "as-is";
    if (audio === "stopped") {
      return harmful(
        "The sound stopped.",
        "No audio came for 2 s while the picture goes on; viewers hear silence.",
        "Check the audio device and the mixer of the encoder.",
      );
    }
    return {
      sentence: "The stream has no sound.",
      evidence: "The encoder sends no audio track.",
      remedy: "Add an audio source in the encoder, unless this is meant.",
      isHarmful: false,
    };
  },

  "video-missing": ({ source: { audio, video } }) => {
    if (video !== "stopped") return "well";
    if (audio !== "flowing") return "as-is";
    return harmful(
      "The picture stopped.",
      "No video came for 2 s while the sound goes on.",
      "Check the camera or capture device and the encoder's load.",
    );
  },

  "bitrate-unstable": ({ source: { starvedSeconds } }) => {
    if (starvedSeconds === 0) return "well";
    if (starvedSeconds < STARVED_SECONDS) return "as-is";
    return harmful(
      "The bitrate is unstable: the broadcast comes in bursts.",
      `In ${starvedSeconds} of the last 10 s less than half a second of media came.`,
      "Lower the bitrate of the encoder, or use a wired or faster connection.",
    );
  },

  "clock-jumps": ({ source: { clockJumps } }) => {
    if (clockJumps === 0) return "well";
    return harmful(
      "The encoder's clock jumps.",
      `${clockJumps} ${clockJumps === 1 ? "jump" : "jumps"} by more than a second in the last minute.`,
      "Restart the encoder; where it plays files or switches inputs, let it make timestamps anew.",
    );
  },

  "clock-repaired": ({ source: { clockRepairs } }) => {
    if (clockRepairs === 0) return "well";
    return {
      sentence: "The source sends frames with wrong times; they are repaired.",
      evidence: `${clockRepairs} ${clockRepairs === 1 ? "frame was" : "frames were"} more than five seconds off in the last minute.`,
      remedy: "Nothing needs to be done. A newer firmware of the camera may mend its clock.",
      isHarmful: false,
    };
  },

  "tracks-left-out": ({ source: { leftOut } }) => {
    if (leftOut === null) return "well";
    return {
      sentence: "The source has more tracks than viewers get.",
      evidence: leftOut,
      remedy:
        "Nothing needs to be done, unless viewers should get another track: let the source send it first, or alone.",
      isHarmful: false,
    };
  },

  "packets-lost": ({ srt }) => {
    if (!srt || srt.latePackets === 0) return "well";
    const { latePackets, latencyMs } = srt;
    const neededMs = Math.ceil(((srt.roundTripMs ?? 0) * ROUND_TRIPS) / 10) * 10;
    return harmful(
      "The network loses packets, and pictures are missing.",
      `${latePackets} ${latePackets === 1 ? "packet" : "packets"} came too late or never. ${lossOf(srt)}`,
      latencyMs < neededMs
        ? `Set the SRT latency of the encoder to at least ${neededMs} ms, four times the round trip (FFmpeg and OBS count microseconds: latency=${neededMs}000).`
        : `${BETTER_NETWORK} A higher SRT latency than ${latencyMs} ms helps too.`,
    );
  },

  "packets-repaired": ({ srt }) => {
    if (!srt || srt.latePackets > 0 || srt.fractionLost < MUCH_LOSS) return "well";
    return {
      sentence: "The network loses packets; SRT repairs it.",
      evidence: lossOf(srt),
      remedy: BETTER_NETWORK,
      isHarmful: false,
    };
  },

  "disk-nearly-full": ({ recordingRoom: room, ingestRate }) => {
    if (room === null) return "well";
    const bytes = Math.min(room.spoolFreeBytes, room.storeFreeBytes ?? Number.POSITIVE_INFINITY);
    const minutes = ingestRate > 0 ? bytes / ingestRate / 60 : Number.POSITIVE_INFINITY;
    if (bytes >= DISK.well.bytes && minutes >= DISK.well.minutes) return "well";
    if (bytes >= DISK.low.bytes && minutes >= DISK.low.minutes) return "as-is";
    const left = Number.isFinite(minutes) ? `; this stream alone fills that in ${Math.floor(minutes)} minutes` : "";
    return harmful(
      "The disk is nearly full: the recording will pause.",
      `${(bytes / GIB).toFixed(1)} GiB are free${left}.`,
      "Delete recordings, or give the data folder a larger disk.",
    );
  },

  "admission-refused": ({ transcoding }) => {
    if (transcoding?.state !== "source-only" || transcoding.cause !== "machine-full") return "well";
    return harmful(
      "There is no room for the stream's renditions: it plays as source only.",
      transcoding.reason ?? "The machine is full.",
      "End another stream, use fewer or smaller profiles, or add a machine.",
    );
  },

  "unsupported-source": ({ transcoding }) => {
    if (transcoding?.state !== "source-only" || transcoding.cause !== "unsupported-source") return "well";
    return harmful(
      "The source cannot be transcoded: the stream plays as source only.",
      transcoding.reason ?? "The transcoder refused it.",
      "Set the encoder to H.264 with 8 bits and 4:2:0 (NV12 or yuv420p), and restart the stream.",
    );
  },

  "transcoder-failed": ({ transcoding }) => {
    if (transcoding === null) return "well";
    if (transcoding.state !== "source-only") return "as-is";
    if (transcoding.cause !== "transcoder-failed") return "well";
    return failed(transcoding.reason ?? "it ended");
  },

  "transcoder-behind": ({ transcoding }) => {
    if (!transcoding || transcoding.state === "off") return "well";
    if (transcoding.state === "source-only") {
      return transcoding.cause === "too-slow" && transcoding.reason ? paused(transcoding.reason) : "well";
    }
    const away = transcoding.renditions.filter(({ state }) => state === "off");
    const are = away.length === 1 ? "is" : "are";
    const names = away.map(({ name }) => name).join(", ");
    if (away.length > 0) return paused(`${names} ${are} paused, because this machine is too slow for all renditions.`);
    if (transcoding.isRecovering) return recovering();
    const lagMs = Math.max(0, ...transcoding.renditions.map((rendition) => rendition.lagMs));
    return lagMs < LATE_LADDER_MS ? "as-is" : behind(`The renditions are ${inSeconds(lagMs)} s behind the source.`);
  },

  "target-not-connected": ({ targets }) => {
    const failed = targets.find(({ state, reason }) => state !== "online" && reason !== null);
    if (!failed) return targets.some(({ state }) => state === "pending") ? "as-is" : "well";
    const isGivenUp = failed.state === "offline";
    return harmful(
      `The stream ${isGivenUp ? "was not accepted by" : "does not reach"} the multistream target "${failed.target.name}".`,
      failed.reason ?? "No reason is known.",
      isGivenUp
        ? "Check the target's address and stream key, then restart the stream."
        : "Weir keeps retrying. Check the target's address and stream key.",
    );
  },

  "target-too-slow": ({ targets }) => {
    const slow = targets.find(({ state, reason }) => state === "online" && reason !== null);
    if (!slow) return "well";
    return harmful(
      `The multistream target "${slow.target.name}" takes the stream too slowly.`,
      slow.reason ?? "No reason is known.",
      "Lower the bitrate of the encoder, send the target a smaller rendition, or give the server a faster uplink.",
    );
  },

  "b-frames-with-webrtc-viewers": ({ webrtc: { hasBFrames, viewers } }) => {
    if (!hasBFrames) return "well";
    return {
      sentence: "The source has B-frames, which WebRTC does not carry.",
      evidence: `${viewers?.count ?? 0} watch by WebRTC now. For them the pictures are encoded anew, which takes CPU and some quality; without room for that, WebRTC is refused.`,
      remedy: "Turn B-frames off in the encoder (x264: bframes=0), or let viewers watch by HLS.",
      isHarmful: false,
    };
  },
};

/** The outcome of each segment counts as well. The issue closes only after several good segments in a row. */
export const segmentRules: Rules<SegmentTranscoded> = {
  "transcoder-behind": ({ missed, missing, isSteady, latencyMs, segment: { seqNo, duration } }) => {
    // Metrics tell which renditions are paused, as soon as that changes.
    if (missed === "late") return isSteady ? behind(`Segment ${seqNo} is missing in ${missing.join(", ")}.`) : "as-is";
    if (missed !== null) return "as-is";
    if (latencyMs > duration * 1000) {
      return isSteady
        ? behind(`Segment ${seqNo} of ${duration.toFixed(1)} s took ${inSeconds(latencyMs)} s.`)
        : "as-is";
    }
    return isSteady ? "well" : "better";
  },

  "transcoder-failed": ({ missed, attempts }) => {
    if (missed === "source-only" || missed === "late") return "as-is";
    const error = errorOf(attempts);
    return error === null ? "well" : failed(error);
  },
};

/** The reason for the last failed attempt. */
function errorOf(attempts: SegmentTranscoded["attempts"]): string | null {
  return attempts.findLast((attempt) => attempt.error !== null)?.error ?? null;
}

const MORE_ROOM = "use fewer or smaller profiles, end another stream, or add a machine.";

function behind(evidence: string): Verdict {
  return harmful(
    "The transcoder does not keep up with the source.",
    evidence,
    `Viewers of a rendition may see it stop for some seconds. If this goes on, ${MORE_ROOM}`,
  );
}

function paused(sentence: string): Verdict {
  return harmful(
    sentence,
    "Too many segments were late. Viewers have the source, and the renditions that go on.",
    `Weir makes paused renditions again, one at a time, when the machine has room. If it stays like this, ${MORE_ROOM}`,
  );
}

function recovering(): Verdict {
  return harmful(
    "All renditions are made again, after the machine was too slow for them.",
    "The last one came back less than 30 s ago.",
    "Nothing needs to be done: this is over when they have kept up for 30 s.",
  );
}

function failed(evidence: string): Verdict {
  return harmful(
    "The transcoder failed.",
    evidence,
    "Weir starts it again automatically. If it keeps failing, restart the encoder with other settings, and read the server's log.",
  );
}
