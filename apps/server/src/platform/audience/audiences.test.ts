import { expect, test } from "vitest";
import { Audiences } from "./audiences.ts";
import { Countries } from "./countries.ts";
import { countryFile } from "./country-file.fixture.ts";

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1";
const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

test.each([
  [IPHONE, { deviceType: "mobile", os: "iOS", browser: "Safari" }],
  [CHROME, { deviceType: "desktop", os: "Windows", browser: "Chrome" }],
  ["VLC/3.0.18 LibVLC/3.0.18", { deviceType: "", os: "", browser: "VLC" }],
  ["Lavf/59.27.100", { deviceType: "", os: "", browser: "FFmpeg" }],
  ["", { deviceType: "", os: "", browser: "" }],
  ["Anything/1.0 (I; made; it; up)", { deviceType: "", os: "", browser: "" }],
  ["__proto__ constructor", { deviceType: "", os: "", browser: "" }],
  ["(".repeat(100_000), { deviceType: "", os: "", browser: "" }],
])("%.30s is one of the known kinds", (header, kinds) => {
  expect(new Audiences(null).of(header, "192.0.2.1")).toEqual({ ...kinds, country: "" });
});

test("two requests of the same audience get the same object", () => {
  const audiences = new Audiences(null);
  expect(audiences.of(CHROME, "192.0.2.1")).toBe(audiences.of(CHROME.replace("140", "141"), "192.0.2.9"));
});

test("the country comes from the file, for IPv4 and for addresses as a socket tells them", () => {
  const audiences = new Audiences(new Countries(countryFile("FR")));
  expect(audiences.of("", "203.0.113.9").country).toBe("FR");
  expect(audiences.of("", "::ffff:203.0.113.9").country).toBe("FR");
  expect(audiences.of("", "10.0.0.1").country).toBe("");
  expect(audiences.of("", "no address").country).toBe("");
});

test("a file of another format is refused", () => {
  expect(() => new Countries(Buffer.from("no such file"))).toThrow();
});
