import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { ManualClock } from "../../../platform/clock.ts";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { silentLog } from "../../../platform/log.ts";
import { LiveRendition } from "../../packaging/live-rendition.ts";
import { PlaylistWaits } from "./playlist-waits.ts";

test("an answer that fails ends its own connection; the others are answered, and their slots are free", () => {
  const clock = new ManualClock();
  const waits = new PlaylistWaits(clock, silentLog, new TrustedProxies([]));
  const rendition = new LiveRendition("source", 0, { seconds: 2 }, clock);
  const answered: number[] = [];
  let isMet = false;
  const responses = [0, 1, 2].map((viewer) => {
    const req = new IncomingMessage(new Socket());
    const res = new ServerResponse(req);
    const done = () => {
      if (viewer === 0) throw new Error("a playlist that cannot be rendered");
      answered.push(viewer);
    };
    waits.until(rendition, { req, res, playbackId: "play", isMet: () => isMet, done, full: () => expect.fail() });
    return res;
  });
  expect(waits.count).toBe(3);
  isMet = true;
  clock.advance(250);
  expect(answered).toEqual([1, 2]);
  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  expect(waits.count).toBe(0);
});
