import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { readSource } from "./source-files.ts";

const files = globSync("deploy/**/*", { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => `${parentPath}/${name}`);

/** Defaults, by variable, from the page that is made of the settings. */
const settings = new Map(
  [...readSource("docs/4-operate/settings.md").matchAll(/^\| `(\w+)` \| (?:`([^`]*)`)? *\|/gm)].map(
    ([, variable = "", fallback]) => [variable, fallback],
  ),
);

test("every setting that a file of deploy/ names exists", () => {
  expect(settings.size).toBeGreaterThan(40);
  // Of the image, not of Weir.
  const others = new Set(["WEIR_IMAGE", "WEIR_DATA_DIR"]);
  const named = files.flatMap((path) =>
    [...readSource(path).matchAll(/\b(?:WEIR|DATABASE)_[A-Z0-9_]+\b/g)].map(([variable]) => ({ path, variable })),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ variable }) => !settings.has(variable) && !others.has(variable))).toEqual([]);
});

test("YAML of deploy/ is read without an error or a warning", () => {
  const paths = files.filter((path) => /\.ya?ml$/.test(path));
  expect(paths.length).toBeGreaterThan(6);
  const problems = paths.flatMap((path) =>
    parseAllDocuments(readSource(path), { merge: true }).flatMap(({ errors, warnings }) =>
      [...errors, ...warnings].map(({ message }) => `${path}: ${message}`),
    ),
  );
  expect(problems).toEqual([]);
});

test("the ports in deploy/ are those that Weir listens at", () => {
  const port = (variable: string) => {
    expect(settings.get(variable)).toMatch(/^\d+$/);
    return settings.get(variable) ?? "";
  };
  const [http, rtmp, srt] = [port("WEIR_HTTP_PORT"), port("WEIR_RTMP_PORT"), port("WEIR_SRT_PORT")];
  const [webrtc, stun] = [port("WEIR_WEBRTC_PORT"), port("WEIR_STUN_PORT")];
  const portsAt = (path: string, at: RegExp) => new Set([...readSource(path).matchAll(at)].map(([, found]) => found));
  const ofNodes = /weir-[ab]:(\d+)/g;
  expect(portsAt("deploy/haproxy/haproxy.cfg", ofNodes)).toEqual(new Set([http, rtmp]));
  expect(portsAt("deploy/haproxy/haproxy.cfg", /check port (\d+)/g)).toEqual(new Set([http]));
  expect(portsAt("deploy/nginx/weir-balancer.conf", ofNodes)).toEqual(new Set([http, rtmp]));
  expect(portsAt("deploy/nginx/weir-srt.conf", ofNodes)).toEqual(new Set([srt]));
  const compose = portsAt("deploy/compose/compose.yml", /"(?:\d+):(\d+)(?:\/udp)?"/g);
  expect(compose).toEqual(new Set([http, rtmp, srt, webrtc, String(Number(webrtc) + 1), stun]));
  const pod = portsAt("deploy/kubernetes/media.yaml", /containerPort: (\d+)/g);
  // The last is that of `WEIR_CLUSTER_ADDRESS=auto`.
  expect(pod).toEqual(new Set([http, rtmp, srt, webrtc, stun, "8090"]));
  const allowed = portsAt("deploy/kubernetes/network-policy.yaml", /port: (\d+)/g);
  expect(allowed).toEqual(pod);
  expect(portsAt("deploy/container/Containerfile", /(?<=EXPOSE .*)\b(\d+)/g)).toEqual(
    new Set([http, rtmp, srt, webrtc, stun]),
  );
});

test("the systemd unit for several nodes confines them as that for one does", () => {
  const settingsOf = (unit: string) =>
    readSource(`deploy/systemd/${unit}`)
      .split("\n")
      .filter((line) => /^[A-Z]/.test(line));
  const one = new Set(settingsOf("weir.service"));
  expect(settingsOf("weir@.service").filter((line) => !one.has(line))).toEqual([
    "Description=Weir video platform, node %i",
    "After=network-online.target time-sync.target postgresql.service",
    "EnvironmentFile=/etc/weir-%i.env",
    "StateDirectory=weir-%i",
  ]);
  const several = new Set(settingsOf("weir@.service"));
  expect([...one].filter((line) => !several.has(line))).toEqual([
    "Description=Weir video platform",
    "After=network-online.target time-sync.target",
    "StateDirectory=weir",
  ]);
});
