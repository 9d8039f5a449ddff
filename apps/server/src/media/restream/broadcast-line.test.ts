import { expect, test } from "vitest";
import { type AudioTrack, Payload } from "../packet.ts";
import { AUDIO, VIDEO } from "../testing/synthetic-source.ts";
import { BroadcastLine } from "./broadcast-line.ts";
import type { LineFrame } from "./line-format.ts";
import { LineMemory } from "./line-pages.ts";

const SLATE_SECONDS = 5;
const START_SECONDS = 3_600;

function open() {
  const frames: LineFrame[] = [];
  const line = new BroadcastLine({
    format: {
      batchMs: 0,
      begin: () => null,
      opening: () => new Uint8Array(),
      write: (_pages, frame) => frames.push(frame),
    },
    ...{ isVideoOnly: false, hasSlate: false, memory: new LineMemory() },
  });
  line.join({ hasRoom: true, batch() {}, refuse() {} });
  const picture = (seconds: number): void => {
    const time = seconds * 90_000;
    const data = new Payload(new Uint8Array(10));
    line.sample({ trackId: 0, kind: "video", time, decodeTime: time, duration: 3000, isIndependent: true, data });
  };
  const sound = ({ id: trackId, sampleRate }: AudioTrack, seconds: number): void => {
    const time = seconds * sampleRate;
    const data = new Payload(new Uint8Array(10));
    line.sample({ trackId, kind: "audio", time, decodeTime: time, duration: 1024, isIndependent: true, data });
  };
  return { line, frames, picture, sound };
}

const OTHER_SOUND: AudioTrack = { ...AUDIO, id: 2, sampleRate: 44_100 };
const OPUS: AudioTrack = { ...AUDIO, codec: "opus", codecString: "opus" } as unknown as AudioTrack;

test.each([
  ["the second of two tracks, with another rate", [AUDIO, OTHER_SOUND], OTHER_SOUND],
  [
    "the first of two tracks, with another rate",
    [
      { ...AUDIO, sampleRate: 44_100 },
      { ...OTHER_SOUND, sampleRate: 48_000 },
    ],
    { ...OTHER_SOUND, sampleRate: 48_000 },
  ],
  ["Opus alone", [OPUS], OPUS],
])(
  "the time that viewers were shown a slate is none of the target's, also where the sound that comes first is of %s",
  (_what, sounds, first) => {
    const { line, frames, picture, sound } = open();
    line.stretch([VIDEO, ...sounds]);
    picture(START_SECONDS);
    line.pause((START_SECONDS + 1) * 90_000);
    line.stretch([VIDEO, ...sounds]);
    const back = START_SECONDS + 1 + SLATE_SECONDS;
    sound(first, back);
    picture(back);
    line.flush();
    const pictures = frames.filter(({ kind }) => kind === "video").map(({ decodeTicks }) => decodeTicks / 90_000);
    expect(pictures.map(Math.round)).toEqual([START_SECONDS, START_SECONDS + 1]);
  },
);
