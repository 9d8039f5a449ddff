import { readPlaylist } from "@weir/formats/hls";
import { parseAccessToken } from "../../apps/server/src/domains/access-control/access-token.ts";
import { parseHlsAddress } from "../../apps/server/src/media/delivery/hls/hls-addresses.ts";
import { parseRange } from "../../apps/server/src/media/delivery/http/byte-range.ts";
import { parseMp4Address } from "../../apps/server/src/media/delivery/mp4/mp4-address.ts";
import {
  parsePreviewQuery,
  parseStillAddress,
  parseStillQuery,
} from "../../apps/server/src/media/delivery/stills/still-address.ts";
import { BadJson, parseJson } from "../../apps/server/src/platform/http/json-body.ts";
import { type FuzzTarget, holds, latin1, utf8 } from "./fuzz-target.ts";

const playlist = (...lines: readonly string[]): Uint8Array => utf8(["#EXTM3U", ...lines, ""].join("\n"));
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const SIZE = 1_000;

export const HTTP_TARGETS: readonly FuzzTarget[] = [
  {
    name: "playlist",
    seeds: [
      playlist(
        "#EXT-X-VERSION:7",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-MEDIA-SEQUENCE:7",
        '#EXT-X-MAP:URI="init.mp4",BYTERANGE="800@0"',
        "#EXTINF:4,",
        "#EXT-X-BYTERANGE:100@800",
        "a.m4s",
        "#EXT-X-DISCONTINUITY",
        '#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x1',
        "#EXTINF:3.5,",
        "b.m4s",
        "#EXT-X-ENDLIST",
      ),
      playlist(
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",DEFAULT=YES,URI="audio.m3u8"',
        '#EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"',
        "v.m3u8",
      ),
    ],
    words: [
      "#EXTINF:",
      "#EXT-X-BYTERANGE:",
      "#EXT-X-MAP:",
      "URI=",
      '"',
      "\n",
      "#EXT-X-GAP",
      "#EXT-X-MEDIA-SEQUENCE:",
      "9007199254740993",
      "-1",
      "1e9",
    ],
    read: (input) => void readPlaylist(new TextDecoder().decode(input)),
  },
  {
    name: "json-body",
    seeds: [
      '{"name":"stream","record":true,"profiles":[{"width":640,"height":360,"bitrate":800000}]}',
      '[1,-0.5e3,"\\u00e9",null,{"a":{"b":[]}}]',
    ].map(utf8),
    words: ['"__proto__":', '"a":', "{", "}", "[", "]", '"', "\\u0000", "\\ud800", ","],
    refusals: [BadJson],
    read(input) {
      const text = new TextDecoder().decode(input);
      const value = parseJson(text);
      holds(JSON.stringify(value) === JSON.stringify(JSON.parse(text)), "an accepted body is what JSON says");
    },
  },
  {
    name: "playback-address",
    seeds: [
      "/hls/abcd1234/index.m3u8?dvr=1",
      "/asset/hls/abcd1234/s/tok/en-1/source/12.3.m4s?_HLS_msn=1&_HLS_part=2&_HLS_skip=YES",
      "/hls/abcd1234/s/nobody/line/source/index.m3u8?tkn=p",
      "/thumbnail/abcd1234.jpg?t=1.5&width=320",
    ].map(utf8),
    words: [
      "/hls/",
      "/asset",
      "index.m3u8",
      "%2e%2e",
      "..",
      "\\",
      "?",
      "#",
      "_HLS_msn=",
      "_hls_part=",
      "&",
      "0x1",
      "99999999999999999999",
    ],
    read(input) {
      const url = latin1(input);
      const address = parseHlsAddress(url);
      if (address?.kind === "file") holds(!/[/\\%#?]/.test(address.file), "a file's name is one segment of a path");
      parseMp4Address(url);
      parseStillAddress(url);
      parseStillQuery(url);
      parsePreviewQuery(url);
    },
  },
  {
    name: "range",
    seeds: ["bytes=0-499", "bytes=-500", "bytes=500-", "bytes=0-0,5-9"].map(utf8),
    words: ["bytes=", "-", ",", "999999999999999"],
    read(input) {
      const range = parseRange(latin1(input), SIZE);
      if (range === null || range === "unsatisfiable") return;
      holds(range.start >= 0 && range.start <= range.end && range.end < SIZE, "a range lies in the content");
    },
  },
  {
    name: "access-token",
    seeds: [
      utf8(
        `${base64({ alg: "ES256", typ: "JWT" })}.${base64({ sub: "abcd1234", pub: "key", exp: 1e9, nbf: 1 })}.${Buffer.alloc(64).toString("base64url")}`,
      ),
    ],
    words: [".", "=", base64({ alg: "none" }), base64({ exp: 1e300 })],
    read: (input) => void parseAccessToken(latin1(input)),
  },
];
