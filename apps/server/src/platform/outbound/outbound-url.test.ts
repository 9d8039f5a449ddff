import { describe, expect, it } from "vitest";
import { systemClock } from "../clock.ts";
import { Outbound } from "./outbound.ts";
import { FORWARD, PULL, refusalOfAddress, refusalOfUrl } from "./outbound-url.ts";

const open = { allowPrivate: false, ownHosts: ["weir.example:443"] };
const closed = { ...open, allowPrivate: true };

describe("a URL's text", () => {
  it.each([
    "https://example.com/hook?x=1",
    "http://8.8.8.8:8080/",
    "https://[2606:4700::1111]/",
    "http://xn--mller-kva.example/",
    "http://localhost.example.com/",
    "http://notlocalhost/",
  ])("%s may be called as far as it tells", (url) => expect(refusalOfUrl(url, open)).toBeNull());

  it.each([
    "",
    "example.com",
    "file:///etc/passwd",
    "ftp://example.com",
    "gopher://example.com",
    "http://",
    `http://example.com/${"a".repeat(2048)}`,
    "http://user:pass@example.com/",
    "http://example.com@10.0.0.1/",
    "http://example.com./",
    "http://localhost/",
    "http://LOCALHOST:8000/",
    "http://localhost./",
    "http://localhost.:8000/",
    "http://api.localhost/",
    "http://api.localhost.:8000/",
    "http://localhost.localdomain/",
    "http://ip6-localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://router.home.arpa/",
    "http://2130706433/",
    "http://134744072/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://127.1/",
    "http://８.８.８.８/",
    "http://127.0.0.1/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::1]/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.0.1/",
    "http://169.254.169.254/latest",
    "http://100.64.0.1/",
    "http://[fc00::1]/",
    "http://[fe80::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::10.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[2002:a00:1::]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://example.com:22/",
    "http://example.com:6379/",
    "https://example.com:11434/",
    "https://weir.example/api/stream",
  ])("%j is refused", (url) => expect(refusalOfUrl(url, open)).toEqual(expect.any(String)));

  it.each([
    "http://127.0.0.1:9000/",
    "http://localhost:9000/",
    "http://[::1]/",
    "http://10.1.2.3/",
    "http://[::ffff:10.0.0.1]/",
  ])("%s may be called in a closed network", (url) => expect(refusalOfUrl(url, closed)).toBeNull());

  it.each([
    "http://127.1/",
    "http://0.0.0.0/",
    "http://127.0.0.1:5432/",
    "https://weir.example/",
    "http://[64:ff9b::a00:1]/",
  ])("%s is refused there as well", (url) => expect(refusalOfUrl(url, closed)).toEqual(expect.any(String)));
});

it.each(["127.0.0.1", "::ffff:192.168.1.1", "fe80::1%eth0", "not an address"])(
  "a name that leads to %s is refused",
  (address) => expect(refusalOfAddress(address, false)).toEqual(expect.any(String)),
);

describe("where streams are forwarded to and pulled from", () => {
  it.each([
    ["rtmp://live.example.com/app/key", FORWARD],
    ["rtmps://live.example.com/app/key", FORWARD],
    ["RTMP://live.example.com:1936/app/key?x=1", FORWARD],
    ["srt://8.8.8.8:9000?streamid=key", FORWARD],
    ["srt://[2606:4700::1111]:9000", FORWARD],
    ["rtmp://user:pass@live.example.com/app", FORWARD],
    ["rtsp://camera.example.com/one", PULL],
    ["https://example.com/live.m3u8", PULL],
  ])("%s may be used as far as its text tells", (url, purpose) => expect(refusalOfUrl(url, open, purpose)).toBeNull());

  it.each([
    ["http://example.com/", FORWARD],
    ["file:///etc/passwd", PULL],
    ["rtmp:/app", FORWARD],
    ["rtmp:///app", FORWARD],
    ["constructor://example.com", PULL],
    ["rtmp://localhost/app", FORWARD],
    ["rtmp://127.0.0.1/app", FORWARD],
    ["rtmp://user@127.0.0.1/app", FORWARD],
    ["rtmp://2130706433/app", FORWARD],
    ["rtmp://user@0x7f.1/app", FORWARD],
    ["srt://192.168.1.1:9000", FORWARD],
    ["srt://[::1]:9000", FORWARD],
    ["srt://example.com:5432", FORWARD],
    ["srt://example.com:54\n32", FORWARD],
    ["rtmp://example.com:80:22/app", FORWARD],
    ["rtmp://example.com:22/app", FORWARD],
    ["http://example.com:554/", PULL],
    ["rtmp://weir.example:443/app", FORWARD],
    ["rtmps://weir.example/app", FORWARD],
    ["rtmp://weir.example./app", FORWARD],
  ])("%s may not", (url, purpose) => expect(refusalOfUrl(url, open, purpose)).toMatch(/^(it|its|port|Weir) /));
});

describe("private networks that are open to pulls", () => {
  const cameras = new Outbound({
    clock: systemClock,
    allowPrivate: false,
    pullNetworks: ["10.9.0.0/16", "fd00::/8", "127.0.0.1"],
    own: () => ({ ports: [8080], publicUrl: "https://weir.example" }),
    resolve: async (host) => (host === "camera.local" ? ["10.9.0.4"] : ["10.9.0.4", "10.8.0.4"]),
  });

  it.each([
    "http://10.9.1.2/live.ts",
    "http://[::ffff:10.9.1.2]/live.ts",
    "http://user:secret@[fd00::2]/live.ts",
    "http://camera.local/live.ts",
  ])("%s can be pulled", (url) => {
    expect(cameras.refusalOf(url, PULL)).toBeNull();
  });

  it.each(["http://10.8.0.4/", "http://169.254.169.254/", "http://[fe80::1]/", "http://192.168.1.4/"])(
    "%s is in none of them: the sentence names the setting",
    (url) => expect(cameras.refusalOf(url, PULL)).toContain("WEIR_PULL_NETWORKS"),
  );

  it.each(["http://127.0.0.1:8080/", "http://localhost:8080/", "https://weir.example/hls/a.m3u8"])(
    "%s is this server, which is never pulled from",
    (url) => expect(cameras.refusalOf(url, PULL)).toBe("it leads back to this server"),
  );

  it.each(["http://10.9.1.2/hook", "http://camera.local/hook"])("%s is closed to webhooks", (url) => {
    expect(cameras.refusalOf(url)).toContain("private addresses");
  });

  it("a name that leads into one of them and out of it is refused when it is connected to", async () => {
    await expect(cameras.find({ url: "http://camera.local/", purpose: PULL })).resolves.toMatchObject({ port: 80 });
    await expect(cameras.find({ url: "http://both.example/", purpose: PULL })).rejects.toThrow("WEIR_PULL_NETWORKS");
  });
});
