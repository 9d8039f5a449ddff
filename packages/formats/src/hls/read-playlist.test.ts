import { expect, it } from "vitest";
import { readPlaylist } from "./read-playlist.ts";

it("a live list has its number, its segments, their ranges and keys, and what is not there", () => {
  const list = readPlaylist(`\uFEFF#EXTM3U\r
#EXT-X-VERSION:4\r
#EXT-X-TARGETDURATION:6\r
#EXT-X-MEDIA-SEQUENCE:41\r
#EXTINF:6.006,title, with commas\r
#EXT-X-BYTERANGE:1000@200\r
all.ts\r
#EXTINF:5,\r
#EXT-X-BYTERANGE:500\r
all.ts\r
#EXT-X-KEY:METHOD=AES-128,URI="key?a=1,2",IV=0x000102030405060708090A0B0C0D0E0F\r
#EXT-X-GAP\r
#EXTINF:6,\r
b.ts\r
#EXT-X-KEY:METHOD=NONE\r
#EXT-X-MAP:URI="init.mp4"\r
#EXTINF:6,\r
c.m4s\r
`);
  const key = { method: "AES-128", uri: "key?a=1,2", iv: "000102030405060708090A0B0C0D0E0F" };
  const plain = { range: null, isGap: false, map: null, key: null };
  expect(list).toEqual({
    ...{ kind: "media", targetDuration: 6, mediaSequence: 41, isEnded: false },
    segments: [
      { ...plain, uri: "all.ts", duration: 6.006, range: { offset: 200, length: 1000 } },
      { ...plain, uri: "all.ts", duration: 5, range: { offset: 1200, length: 500 } },
      { ...plain, uri: "b.ts", duration: 6, isGap: true, key },
      { ...plain, uri: "c.m4s", duration: 6, map: { uri: "init.mp4", range: null } },
    ],
  });
});

it("a multivariant list says where the sound is apart", () => {
  const list = readPlaylist(`#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="apart",NAME="a",URI="a.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="apart",NAME="b",URI="b.m3u8"
#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="words",NAME="a",URI="c.m3u8"
#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="words",NAME="b",URI="d.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="inside",NAME="a"
#EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="apart",SUBTITLES="words"
low.m3u8
#EXT-X-STREAM-INF:AUDIO="inside",BANDWIDTH=200
high.m3u8
`);
  expect(list).toEqual({
    kind: "multivariant",
    variants: [
      { uri: "low.m3u8", bandwidth: 100, sound: "a.m3u8", others: { audio: 1, captions: 2 } },
      { uri: "high.m3u8", bandwidth: 200, sound: null, others: { audio: 0, captions: 0 } },
    ],
  });
});

it.each([
  "",
  "<html>",
  "#EXTM3U8",
  "#EXTM3U\n#EXTINF:1,\na.ts",
  "#EXTM3U\n#EXT-X-TARGETDURATION:1e9\n",
  "#EXTM3U\n#EXT-X-TARGETDURATION:0\n",
])("%j is no playlist", (text) => expect(() => readPlaylist(text)).toThrow());

it("ten thousand damaged lists are read or refused, and make no segment without a name", () => {
  const whole = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:4\n#EXT-X-BYTERANGE:5@1\n#EXTINF:6,\na.ts\n";
  let seed = 1;
  const random = (most: number) => {
    seed = (seed * 48_271) % 0x7fff_ffff;
    return seed % most;
  };
  let read = 0;
  for (let i = 0; i < 10_000; i++) {
    const at = random(whole.length);
    const text = whole.slice(0, at) + String.fromCharCode(random(128)) + whole.slice(at + random(3));
    try {
      const list = readPlaylist(text);
      if (list.kind === "media") expect(list.segments.every(({ uri }) => uri !== "")).toBe(true);
      read++;
    } catch (error) {
      expect(error).toHaveProperty("name");
    }
  }
  expect(read).toBeGreaterThan(1_000);
});

it("a line of one long name takes no time", () => {
  const begun = performance.now();
  const list = readPlaylist(`#EXTM3U\n#EXT-X-STREAM-INF:${"A".repeat(100_000)}\nbest.m3u8\n`);
  // Ten seconds if each character may begin a name.
  expect(performance.now() - begun).toBeLessThan(1_000);
  expect(list).toMatchObject({ variants: [{ uri: "best.m3u8", bandwidth: 0 }] });
});
