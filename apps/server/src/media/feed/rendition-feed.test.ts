import { beforeEach, expect, test } from "vitest";
import { Payload } from "../packet.ts";
import { AUDIO, VIDEO } from "../testing/synthetic-source.ts";
import type { Sample } from "../timeline/timeline-sink.ts";
import { RenditionFeed } from "./rendition-feed.ts";
import { SessionFeed } from "./session-feed.ts";

let pictures: SessionFeed;
let sound: SessionFeed;
/** What the reader got: a letter, and the byte that it read then. */
let arrived: string[];
let released: number[];
let leave: () => void;

beforeEach(() => {
  pictures = new SessionFeed();
  sound = new SessionFeed();
  arrived = [];
  released = [];
  const sample = ({ kind, data }: Sample) => void arrived.push(`${kind === "video" ? "v" : "a"}${data.bytes[0]}`);
  const sink = { stretch() {}, cut() {}, pause() {}, end() {}, sample };
  leave = new RenditionFeed(pictures, sound).attach(sink, { from: "keyframe" });
  sound.stretch([VIDEO, AUDIO]);
  pictures.stretch([VIDEO]);
});

/** A sample in memory that is overwritten as soon as nobody has a share of it. */
function give(feed: SessionFeed, kind: Sample["kind"], second: number, byte: number): void {
  const bytes = Uint8Array.of(byte);
  const release = (): void => {
    released.push(byte);
    bytes.fill(255);
  };
  const data = new Payload(bytes, { release });
  const time = second * (kind === "video" ? 90_000 : AUDIO.sampleRate);
  const trackId = (kind === "video" ? VIDEO : AUDIO).id;
  feed.sample({ trackId, kind, time, decodeTime: time, duration: 1, isIndependent: true, data });
  data.release();
}

test("sound comes once, unchanged, when the pictures have reached its time", () => {
  for (const nth of [1, 2, 3]) give(sound, "audio", nth, nth);
  give(pictures, "video", 0.5, 100);
  give(pictures, "video", 2, 101);
  expect(arrived).toEqual(["v100", "a1", "a2", "v101"]);
  expect(released).toEqual([100, 1, 2, 101]);
  pictures.pause(0);
  expect(arrived.slice(4)).toEqual(["a3"]);
});

test("the oldest sound is dropped where no picture comes for too long, and all of it when the reader leaves", () => {
  for (let nth = 0; nth < 502; nth++) give(sound, "audio", nth, nth % 250);
  expect(released).toEqual([0, 1]);
  give(pictures, "video", 2, 251);
  expect(arrived).toEqual(["a2", "v251"]);
  leave();
  expect(released).toHaveLength(503);
});
