import { expect, test } from "vitest";
import { silentLog } from "../../../platform/log.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { Payload, VIDEO_TRACK } from "../../packet.ts";
import { roomForLadders } from "../../testing/fake-gates.ts";
import { FakeChildren } from "../../testing/fake-transcoder.ts";
import { VIDEO } from "../../testing/synthetic-source.ts";
import { WhepRendition } from "./whep-rendition.ts";

test("a transcoder that hangs is replaced, and pictures go on at the next keyframe", () => {
  const clock = new ManualClock();
  const children = new FakeChildren();
  let pictures = 0;
  const rendition = WhepRendition.open({
    ...{ clock, log: silentLog, track: VIDEO },
    transcoding: {
      admission: roomForLadders(),
      children,
      encoding: { encoder: "libx264", preset: "veryfast" },
    },
    onPicture: () => pictures++,
    onFailed: () => {},
  });
  if (typeof rendition === "string") throw new Error(rendition);
  let nth = 0;
  const send = (seconds: number): void => {
    for (const end = nth + seconds * 30; nth < end; nth++) {
      clock.advance(1000 / 30);
      const isIndependent = nth % 60 === 0;
      if (isIndependent)
        rendition.cut({ msn: nth / 60, ticks: nth * 3000, discontinuity: false, programDateTimeMs: 0, byVideo: true });
      const times = { time: nth * 3000, decodeTime: nth * 3000, duration: 3000 };
      const data = new Payload(Uint8Array.of(1));
      rendition.sample({ trackId: VIDEO_TRACK, kind: "video", ...times, isIndependent, data });
    }
  };
  send(10);
  const before = pictures;
  expect([children.taken.length, before > 200]).toEqual([1, true]);
  const hung = children.current;
  hung.mode = "hung";
  send(10);
  expect([hung.isKilled, children.taken.length]).toEqual([true, 2]);
  expect(pictures).toBeGreaterThan(before + 50);
  rendition.close();
});
