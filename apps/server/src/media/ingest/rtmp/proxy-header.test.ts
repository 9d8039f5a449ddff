import { expect, test } from "vitest";
import { ProxyHeader } from "./proxy-header.ts";

const SIGNATURE = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10];
const v1 = (line: string) => Buffer.from(`${line}\r\n`, "latin1");
const v2 = (command: number, family: number, body: readonly number[]) =>
  Buffer.from([...SIGNATURE, command, family, body.length >> 8, body.length & 255, ...body]);
const TCP4_BODY = [203, 0, 113, 7, 10, 0, 0, 1, 0x1f, 0x90, 0x07, 0x8f];
const TCP6_BODY = [0x20, 1, 0x0d, 0xb8, ...new Array(11).fill(0), 7, ...new Array(16).fill(1), 0, 1, 0, 2];

test.each([
  ["version 1, IPv4", v1("PROXY TCP4 203.0.113.7 10.0.0.1 40000 1935"), "203.0.113.7"],
  ["version 1, IPv6", v1("PROXY TCP6 2001:db8::7 2001:db8::1 40000 1935"), "2001:db8::7"],
  ["version 1, unknown", v1("PROXY UNKNOWN"), null],
  ["version 1, unknown with more", v1("PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535"), null],
  ["version 2, IPv4", v2(0x21, 0x11, TCP4_BODY), "203.0.113.7"],
  ["version 2, IPv4 and a TLV", v2(0x21, 0x11, [...TCP4_BODY, 4, 0, 1, 0]), "203.0.113.7"],
  ["version 2, IPv6", v2(0x21, 0x21, TCP6_BODY), "2001:db8:0:0:0:0:0:7"],
  ["version 2, a unix socket", v2(0x21, 0x31, new Array(216).fill(0)), null],
  ["version 2, the proxy's own", v2(0x20, 0, []), null],
])("%s: the client's address and the bytes after the header, however they are split", (_, header, address) => {
  const wire = Buffer.concat([header, Uint8Array.of(3, 1, 2)]);
  for (let size = 1; size <= wire.length; size++) {
    const reader = new ProxyHeader(true);
    let rest: number[] = [];
    let read: string | null | undefined;
    for (let at = 0; at < wire.length; at += size) {
      const piece = Buffer.from(wire.subarray(at, at + size));
      if (read !== undefined) rest.push(...piece);
      else {
        const found = reader.push(piece);
        if (found) [read, rest] = [found.address, [...found.rest]];
      }
      piece.fill(0xee);
    }
    expect([read, rest]).toEqual([address, [3, 1, 2]]);
  }
});

test("a connection without a header is RTMP from its first byte", () => {
  expect(new ProxyHeader(true).push(Uint8Array.of(3, 9))).toEqual({ address: null, rest: Buffer.from([3, 9]) });
});

test.each([
  ["HTTP", Buffer.from("POST / HTTP/1.1\r\n")],
  ["a line without an end", Buffer.from(`PROXY TCP4 ${"1".repeat(200)}`)],
  ["UDP", v1("PROXY UDP4 203.0.113.7 10.0.0.1 1 2")],
  ["no addresses", v1("PROXY TCP4")],
  ["version 3", v2(0x31, 0x11, TCP4_BODY)],
  ["4 KiB of addresses", v2(0x21, 0x11, new Array(4096).fill(0)).subarray(0, 16)],
  ["another signature", Buffer.from([13, 10, 13, 10, 1])],
])("%s is refused", (_, bytes) => {
  expect(() => new ProxyHeader(true).push(bytes)).toThrow("PROXY header");
});

test("a header from an untrusted peer is refused at its first byte", () => {
  expect(() => new ProxyHeader(false).push(Uint8Array.of(0x50))).toThrow("WEIR_TRUSTED_PROXIES");
  expect(() => new ProxyHeader(false).push(Uint8Array.of(13))).toThrow("WEIR_TRUSTED_PROXIES");
});
