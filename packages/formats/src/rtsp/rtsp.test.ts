import fc from "fast-check";
import { expect, it } from "vitest";
import { FormatError } from "../bits/index.ts";
import { RtspReader, readChallenges } from "./index.ts";

function collect() {
  const found: unknown[] = [];
  const text = (bytes: Uint8Array) => String.fromCharCode(...bytes);
  const reader = new RtspReader({
    response: ({ status, headers, body }) => found.push([status, headers.get("www-authenticate"), text(body)]),
    request: ({ method, url }) => found.push([method, url]),
    packet: (channel, bytes) => found.push([channel, [...bytes]]),
  });
  return { found, reader };
}

const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const WIRE = bytesOf(
  [
    "RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\nWWW-Authenticate: Basic\r\nWWW-Authenticate: Digest\r\nContent-Length: 3\r\n\r\nabc",
    "$\x02\x00\x03\x01\x02\x03\r\n$\x00\x00\x00OPTIONS rtsp://a/b RTSP/1.0\r\nCSeq: 2\r\n\r\n",
  ].join(""),
);
const PARTS = [
  [401, ["Basic", "Digest"], "abc"],
  [2, [1, 2, 3]],
  [0, []],
  ["OPTIONS", "rtsp://a/b"],
];

it("messages and packets are read however the network divides them", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sizes) => {
      const { found, reader } = collect();
      for (let at = 0, n = 0; at < WIRE.length; n++) {
        const size = sizes[n % sizes.length] ?? 1;
        reader.push(WIRE.slice(at, at + size));
        at += size;
      }
      expect(found).toEqual(PARTS);
    }),
  );
});

it("damaged bytes are read or refused with FormatError, and nothing larger than they is given out", () => {
  const change = fc.tuple(fc.nat(WIRE.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), fc.uint8Array({ maxLength: 50 }), (changes, more) => {
      const { reader } = collect();
      const bytes = Uint8Array.from(WIRE);
      for (const [at, value] of changes) bytes[at] = value;
      try {
        reader.push(bytes);
        reader.push(more);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
    { numRuns: 2000 },
  );
});

it.each([
  ["an endless head", `RTSP/1.0 200 OK\r\n${"a: b\r\n".repeat(4000)}`],
  ["an endless line", "R".repeat(20_000)],
  ["many headers", `RTSP/1.0 200 OK\r\n${"a:b\n".repeat(200)}\r\n`],
  ["a body of a gigabyte", "RTSP/1.0 200 OK\r\nContent-Length: 999999999\r\n\r\n"],
  ["a negative length", "RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n"],
  ["HTTP", "HTTP/1.1 200 OK\r\n\r\n"],
])("%s is refused", (_what, text) => {
  expect(() => collect().reader.push(bytesOf(text))).toThrow(FormatError);
});

it("challenges are told apart, also in one header", () => {
  const read = readChallenges([
    'Digest realm="a, \\"b\\"", nonce="n=1", qop="auth,auth-int", algorithm=SHA-256, Basic realm="c"',
  ]);
  expect(read.map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)])).toEqual([
    ["digest", { realm: 'a, "b"', nonce: "n=1", qop: "auth,auth-int", algorithm: "SHA-256" }],
    ["basic", { realm: "c" }],
  ]);
  fc.assert(
    fc.property(fc.array(fc.string()), (values) => {
      expect(readChallenges(values).length).toBeLessThanOrEqual(8);
    }),
  );
});
