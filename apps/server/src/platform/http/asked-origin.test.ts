import { expect, test } from "vitest";
import { askedOrigin } from "./asked-origin.ts";

test.each([
  ["video.example.com", "https", "https://video.example.com"],
  ["VIDEO.example.com:443", "https", "https://video.example.com"],
  ["192.0.2.7:8080", "http", "http://192.0.2.7:8080"],
  ["[2001:db8::7]:8080", "http", "http://[2001:db8::7]:8080"],
  ["[::1]", "http", "http://[::1]"],
  ["my_nas", "http", "http://my_nas"],
  ["host:8443", "gopher", "http://host:8443"],
])("a request to %s by %s was sent to %s", (host, protocol, origin) => {
  expect(askedOrigin({ host, protocol })).toBe(origin);
});

test.each([
  "",
  "a b",
  "host/path",
  "host?x",
  "host#x",
  "user@host",
  "user:pass@host",
  "host:99999",
  "host:0",
  "host:",
  "host:80:80",
  "[::1",
  "::1",
  "[zz::1]",
  "0x7f.1",
  "2130706433",
  ".host",
  "host\r\nx-evil: 1",
  "<script>",
  "m\u00fcller.example",
  "a".repeat(300),
])("a request to %j was sent nowhere that can be written down", (host) => {
  expect(askedOrigin({ host, protocol: "http" })).toBeNull();
});
