import { afterEach, beforeEach, expect, test } from "vitest";
import { MediaRig, until } from "../../testing/media-rig.ts";

const RECORDING = "/asset/hls/recording1";

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.publishGate.nextStart = { record: true };
});
afterEach(() => rig[Symbol.asyncDispose]());

async function record(seconds: number): Promise<string> {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds });
  publication.end("clean-stop", "the end");
  await rig.plane.drain();
  await until(async () => (await rig.fetch(`${RECORDING}/index.m3u8`)).status === 200, "the recording");
  return rig.text(`${RECORDING}/index.m3u8`);
}

/** Size of the first sample, by the `trun` box. */
function firstSizeIn(bytes: Buffer): number {
  const flagsAt = bytes.indexOf("trun") + 4;
  const flags = bytes.readUInt32BE(flagsAt);
  const [hasOffset, hasFirstFlags, hasDuration] = [0x1, 0x4, 0x100].map((flag) => ((flags & flag) === 0 ? 0 : 4));
  return bytes.readUInt32BE(flagsAt + 8 + (hasOffset ?? 0) + (hasFirstFlags ?? 0) + (hasDuration ?? 0));
}

test("a recording lists its keyframes: byte ranges of its segments, each until the next", async () => {
  const multivariant = await record(21);
  const listed = /^#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+,CODECS="avc1[^,"]+",.*URI="(.+)"$/gm;
  const [[, uri = ""] = []] = multivariant.matchAll(listed);
  expect(uri).toBe("s/-/session-1/source/iframes.m3u8");
  const [whole, text] = [
    await rig.text(`${RECORDING}/s/-/session-1/source/index.m3u8`),
    await rig.text(`${RECORDING}/${uri}`),
  ];
  expect(text).toContain("#EXT-X-I-FRAMES-ONLY\n");
  expect(text).toContain("#EXT-X-ENDLIST\n");
  expect(text.match(/#EXT-X-MAP:.*/g)).toEqual(whole.match(/#EXT-X-MAP:.*/g));
  const rangesIn = (list: string) =>
    [...list.matchAll(/BYTERANGE:(\d+)@(\d+)\n(.+)/g)].map(([, length, offset, span]) => ({
      ...{ length: Number(length), offset: Number(offset), span },
    }));
  const secondsIn = (list: string) =>
    [...list.matchAll(/EXTINF:([\d.]+)/g)].reduce((sum, [, seconds]) => sum + Number(seconds), 0);
  const [segments, frames] = [rangesIn(whole), rangesIn(text)];
  expect(frames.length).toBe(segments.length);
  expect(Math.abs(secondsIn(text) - secondsIn(whole))).toBeLessThan(0.001);
  for (const [nth, { length, offset, span }] of frames.entries()) {
    expect({ offset, span }).toEqual({ offset: segments[nth]?.offset, span: segments[nth]?.span });
    expect(length).toBeLessThan(segments[nth]?.length ?? 0);
    const range = `bytes=${offset}-${offset + length - 1}`;
    const bytes = await rig.bytes(`${RECORDING}/s/-/session-1/source/${span}`, { headers: { range } });
    expect(bytes.subarray(4, 8).toString()).toBe("moof");
    const mediaAt = bytes.readUInt32BE(0);
    expect(bytes.subarray(mediaAt + 4, mediaAt + 8).toString()).toBe("mdat");
    expect(mediaAt + 8 + firstSizeIn(bytes)).toBe(bytes.byteLength);
  }
});

test("sound has no keyframes to list, and no such playlist", async () => {
  const multivariant = await record(11);
  expect(multivariant).not.toMatch(/I-FRAME-STREAM-INF.*audio/);
  expect((await rig.fetch(`${RECORDING}/s/-/session-1/audio/iframes.m3u8`)).status).toBe(404);
  expect((await rig.fetch("/hls/playstream1/s/-/session-1/source/iframes.m3u8")).status).toBe(404);
});

test("a stream that viewers go back in lists its keyframes while it is live, and the same after", async () => {
  const live = "/hls/playstream1";
  rig.publishGate.nextStart = { record: true, dvrSeconds: 86_400 };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  await until(async () => (await rig.fetch(`${live}/s/-/session-1/source/dvr.m3u8`)).status === 200, "the list");
  await rig.send(publication, { seconds: 20, clockAt: 5 });
  const multivariant = await until(async () => {
    const text = await rig.text(`${live}/index.m3u8?dvr=1`);
    return text.includes("I-FRAME-STREAM-INF") ? text : null;
  }, "keyframes");
  const uri = /#EXT-X-I-FRAME-STREAM-INF:.*URI="(.+)"/.exec(multivariant)?.[1];
  expect(uri).toBe("s/-/session-1/source/dvr-iframes.m3u8");
  expect(await rig.text(`${live}/index.m3u8`)).not.toContain("I-FRAME");
  const framesIn = (text: string) =>
    [...text.matchAll(/#EXT-X-BYTERANGE:(\d+)@0\n(d\d+\.m4s)/g)].map(([, length, name = ""]) => ({
      length: Number(length),
      name,
    }));
  const list = await until(async () => {
    const text = await rig.text(`${live}/${uri}`);
    return framesIn(text).length > 8 ? text : null;
  }, "nine keyframes");
  expect(list).toMatch(/#EXT-X-I-FRAMES-ONLY\n/);
  expect(list).toContain("#EXT-X-MEDIA-SEQUENCE:1\n");
  expect(list).not.toContain("ENDLIST");
  for (const { length, name } of framesIn(list)) {
    const range = `bytes=0-${length - 1}`;
    const bytes = await rig.bytes(`${live}/s/-/session-1/source/${name}`, { headers: { range } });
    expect(bytes.readUInt32BE(0) + 8 + firstSizeIn(bytes)).toBe(length);
  }
  publication.end("clean-stop", "the end");
  await rig.plane.drain();
  rig.clock.advance(61_000);
  const ended = await rig.text(`${live}/${uri}`);
  expect(ended).toContain("#EXT-X-ENDLIST");
  expect(framesIn(ended).slice(0, framesIn(list).length)).toEqual(framesIn(list));
  expect((await rig.fetch(`${live}/s/-/session-1/audio/dvr-iframes.m3u8`)).status).toBe(404);

  // A viewer who scrubs costs the store first pictures, not whole segments.
  const read = rig.store.read.bind(rig.store);
  const reads: number[] = [];
  // As of a store whose objects are no files.
  Object.assign(rig.store, { fill: undefined });
  rig.store.read = (key, range) => {
    if (range) reads.push(range.end - range.start + 1);
    return read(key, range);
  };
  const frames = framesIn(list);
  for (const { length, name } of frames) {
    const answer = await rig.fetch(`${live}/s/-/session-1/source/${name}`, {
      headers: { range: `bytes=0-${length - 1}` },
    });
    const whole = await rig.bytes(`${live}/s/-/session-1/source/${name}`);
    expect([answer.status, answer.headers.get("content-range")]).toEqual([
      206,
      `bytes 0-${length - 1}/${whole.byteLength}`,
    ]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(whole.subarray(0, length))).toBe(true);
  }
  expect(reads.filter((_, nth) => nth % 2 === 0)).toEqual(frames.map(({ length }) => length));
});

test("all lists that go back have one tag of control; a list of keyframes keeps what it says: deltas and blocked reloads", async () => {
  const live = "/hls/playstream1";
  rig.publishGate.nextStart = { record: true, dvrSeconds: 86_400 };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  await until(async () => (await rig.fetch(`${live}/s/-/session-1/source/dvr.m3u8`)).status === 200, "the list");
  // In pieces, as the disk is slower than the clock of a test.
  const recorded = () => rig.facts.of("segment-closed").at(-1)?.recorded[0]?.msn ?? 0;
  for (let at = 5; at < 65; at += 10) {
    await rig.send(publication, { seconds: 10, clockAt: at });
    await until(() => recorded() >= (at + 10) / 2 - 2, "the recording");
  }
  const multivariant = await rig.text(`${live}/index.m3u8?dvr=1`);
  const lists = multivariant.match(/s\/[^"\n]+\.m3u8/g) ?? [];
  expect(lists).toHaveLength(3);
  const controls = await Promise.all(
    lists.map(async (list) => (await rig.text(`${live}/${list}`)).match(/#EXT-X-SERVER-CONTROL:.*/g)),
  );
  expect(controls[0]).toEqual([
    expect.stringMatching(/CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=[\d.]+,CAN-SKIP-UNTIL=\d+$/),
  ]);
  expect(controls).toEqual(lists.map(() => controls[0]));

  const frames = `${live}/s/-/session-1/source/dvr-iframes.m3u8`;
  const namesIn = (text: string) => text.match(/^d\d+\.m4s$/gm) ?? [];
  const whole = await rig.text(frames);
  expect(whole).not.toMatch(/EXT-X-PART|PRELOAD-HINT|RENDITION-REPORT|EXT-X-SKIP/);
  const delta = await rig.text(`${frames}?_HLS_skip=YES`);
  const skipped = Number(/#EXT-X-SKIP:SKIPPED-SEGMENTS=(\d+)/.exec(delta)?.[1]);
  expect(skipped).toBeGreaterThan(10);
  expect(namesIn(delta)).toEqual(namesIn(whole).slice(skipped));
  // As in the other lists: shaka-player reads a delta update as a list of its own.
  expect(delta).toMatch(/SKIP:\S+\n#EXT-X-MAP:URI="init-\S+"\n#EXT-X-PROGRAM-DATE-TIME/);
  expect(delta.match(/EXT-X-MAP/g)).toHaveLength(1);
  expect(delta.match(/DATE-TIME:\S+\n#EXTINF/g)).toHaveLength(namesIn(delta).length);
  expect((await rig.fetch(`${frames}?_HLS_skip=no`)).status).toBe(400);
  expect((await rig.fetch(`${frames}?_HLS_msn=999`)).status).toBe(400);

  // The reload waits for the segment that is open now, and gives up when the one behind it closes: the recorder has all before it, and what is sent closes this one alone.
  const closed = Number(
    (await rig.text(`${live}/s/-/session-1/source/dvr.m3u8`))
      .match(/^d(\d+)\.m4s$/gm)
      ?.at(-1)
      ?.slice(1, -4),
  );
  await until(async () => namesIn(await rig.text(frames)).at(-1) === `d${closed}.m4s`, "all that is closed");
  const next = closed + 1;
  const reload = rig.text(`${frames}?_HLS_msn=${next}&_HLS_skip=YES`);
  await rig.send(publication, { seconds: 2, clockAt: 65 });
  await until(() => recorded() >= next, "the next segment in the recording");
  rig.clock.advance(250);
  expect(namesIn(await reload)).toContain(`d${next}.m4s`);
});
