import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { networkOf, TrustedProxies } from "./trusted-proxies.ts";

const request = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ headers: { host: "here.test", ...headers }, socket: { remoteAddress } }) as unknown as IncomingMessage;
const proxies = new TrustedProxies(["10.0.0.0/8", "fd00::/8", "192.0.2.7"]);
const from = (remoteAddress: string, forwarded?: string) =>
  proxies.addressOf(request(remoteAddress, forwarded === undefined ? {} : { "x-forwarded-for": forwarded }));

describe("the address of a request's sender", () => {
  test.each([
    ["a stranger names another address", "203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["a trusted proxy names the viewer", "10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["the viewer prepends an address", "10.1.2.3", "1.1.1.1, 198.51.100.1", "198.51.100.1"],
    ["two trusted proxies stand in a row", "10.1.2.3", "198.51.100.1, 192.0.2.7", "198.51.100.1"],
    ["a trusted proxy names nobody", "10.1.2.3", undefined, "10.1.2.3"],
    ["the last hop is no address", "10.1.2.3", "198.51.100.1, unknown", "10.1.2.3"],
    ["a hop has a port", "10.1.2.3", "198.51.100.1:5123", "198.51.100.1"],
    ["a hop is IPv6 with a port", "10.1.2.3", "[2001:db8::1]:5123", "2001:db8::1"],
    ["a hop is IPv6 in brackets", "10.1.2.3", "[2001:db8::1]", "2001:db8::1"],
    ["a trusted hop is IPv6 with a port", "10.1.2.3", "198.51.100.1, [fd00::2]:80", "198.51.100.1"],
    ["a hop is IPv4 inside IPv6 with a port", "10.1.2.3", "[::ffff:198.51.100.1]:5123", "198.51.100.1"],
    ["everybody is trusted", "10.1.2.3", "10.9.9.9", "10.9.9.9"],
    ["the listener shows IPv4 as IPv6", "::ffff:10.1.2.3", "2001:db8::1", "2001:db8::1"],
    ["the proxy speaks IPv6", "fd00::1", "198.51.100.1", "198.51.100.1"],
  ])("%s", (_situation, remote, forwarded, address) => expect(from(remote, forwarded)).toBe(address));

  test("a header of 10,000 hops costs no more than twenty", () => {
    expect(from("10.1.2.3", "10.0.0.1,".repeat(10_000))).toBe("10.1.2.3");
    expect(from("10.1.2.3", `1.1.1.1${",10.0.0.1".repeat(10_000)}`)).toBe("10.0.0.1");
  });

  test("without any proxy nothing counts but the connection", () => {
    expect(new TrustedProxies([]).addressOf(request("10.1.2.3", { "x-forwarded-for": "1.1.1.1" }))).toBe("10.1.2.3");
  });
});

test("host and protocol are told by trusted proxies alone", () => {
  const told = { "x-forwarded-host": "video.test", "x-forwarded-proto": "https" };
  const [trusted, strange] = [request("10.1.2.3", told), request("203.0.113.9", told)];
  expect([proxies.hostOf(trusted), proxies.isSecure(trusted)]).toEqual(["video.test", true]);
  expect([proxies.hostOf(strange), proxies.isSecure(strange)]).toEqual(["here.test", false]);
});

test.each(["10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.1/", "10.0.0.1/8/8", "proxy.test", ""])(
  "%j is no network",
  (text) => expect(networkOf(text)).toBeUndefined(),
);
