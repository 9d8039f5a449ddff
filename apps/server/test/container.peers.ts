import type { ChildProcess } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { type Container, ContainerImage } from "./support/container.ts";
import { listedRenditions } from "./support/live-renditions.ts";
import { freePort } from "./support/weir-process.ts";
import { PRESET_API_KEY, WeirServer } from "./support/weir-server.ts";

const BUILD_WITHIN_MS = 300_000;
const ZOMBIES = `const fs = require("fs");
  const stats = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).map((pid) => { try { return fs.readFileSync("/proc/" + pid + "/stat", "utf8") } catch { return "" } });
  console.log(stats.filter((stat) => / Z /.test(stat)).length)`;

let image: ContainerImage;

beforeAll(async () => {
  image = await ContainerImage.build();
}, BUILD_WITHIN_MS);
afterAll(() => image?.[Symbol.asyncDispose](), BUILD_WITHIN_MS);

async function settings(): Promise<{ server: WeirServer; env: Record<string, string> }> {
  const folder = makeTestFolder("container");
  onTestFinished(() => rm(folder, { recursive: true }));
  const [httpPort, rtmpPort] = [await freePort(), await freePort()];
  const server = new WeirServer({ dataFolder: join(folder, "data"), httpPort, rtmpPort });
  const env = {
    WEIR_HOST: "127.0.0.1",
    WEIR_HTTP_PORT: String(httpPort),
    WEIR_RTMP_PORT: String(rtmpPort),
    WEIR_METRICS_PORT: "off",
    WEIR_STUN_PORT: "off",
    WEIR_SRT_PORT: "off",
    WEIR_WEBRTC_PORT: "0",
    WEIR_PUBLIC_URL: server.url,
    WEIR_API_KEY: PRESET_API_KEY,
  };
  return { server, env };
}

/** The image's server in a container, once it is ready. */
async function started(container: Container, server: WeirServer): Promise<{ child: ChildProcess; log: () => string }> {
  const child = container.start(image.config.Entrypoint);
  let log = "";
  for (const output of [child.stdout, child.stderr])
    output.on("data", (chunk) => {
      log += chunk;
    });
  const ready = () =>
    fetch(`${server.url}/readyz`).then(
      ({ ok }) => ok || log,
      () => log,
    );
  await expect.poll(ready, { timeout: 30_000 }).toBe(true);
  return { child, log: () => log };
}

const stopped = async (container: Container, child: ChildProcess): Promise<number | null> => {
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await container.signal("TERM");
  return ended;
};

test("doctor finds nothing wrong in a container, and SRT is there", async () => {
  const { server, env } = await settings();
  const child = image.container("doctor", server.dataFolder, env).start(["/opt/weir/bin/weir", "doctor", "--json"]);
  const findings = JSON.parse(await text(child.stdout)) as { about: string; state: string; sentence: string }[];
  expect(findings.filter(({ state }) => state === "problem")).toEqual([]);
  expect(findings.find(({ about }) => about === "libsrt")).toMatchObject({ state: "ok" });
});

test("the image's server runs as an ordinary user on a read-only root, transcodes, and keeps its data", async () => {
  const { server, env } = await settings();
  const container = image.container("server", server.dataFolder, env);
  const first = await started(container, server);
  onTestFinished(() => void first.child.kill("SIGKILL"));
  expect(first.log()).toMatch(/"no network",.*"msg":"decoding children are confined"/);

  const { User: user, Healthcheck } = image.config;
  const [, ...healthCheck] = Healthcheck.Test;
  await container.exec(user, healthCheck);
  const { stdout: status } = await container.exec(user, [
    "grep",
    "-E",
    "^(Uid|CapEff|Seccomp|NoNewPrivs):",
    "/proc/1/status",
  ]);
  expect(status.replaceAll("\t", " ").trim().split("\n")).toEqual([
    "Uid: 10001 10001 10001 10001",
    "CapEff: 0000000000000000",
    "NoNewPrivs: 1",
    "Seccomp: 2",
  ]);
  await expect(container.exec(user, ["touch", "/opt/weir/x"])).rejects.toThrow(/Read-only file system/);

  const profiles = [{ name: "180p", width: 320, height: 180, bitrate: 200_000, fps: 30 }];
  const stream = await server.client.streams.create({ name: "contained", profiles });
  await server.client.streams.testBroadcast(stream.id, { seconds: 60 });
  const renditions = async () => (await listedRenditions(server.hlsUrl(stream.playbackId))).length;
  await expect.poll(renditions, { timeout: 30_000 }).toBeGreaterThan(2);
  await server.client.streams.terminate(stream.id);
  const zombies = async () =>
    (await container.exec(user, ["/opt/weir/node_modules/.bin/node", "-e", ZOMBIES])).stdout.trim();
  await expect.poll(zombies).toBe("0");
  expect(await stopped(container, first.child)).toBe(0);

  const second = await started(container, server);
  onTestFinished(() => void second.child.kill("SIGKILL"));
  expect(await server.client.streams.get(stream.id)).toMatchObject({ name: "contained" });
  expect(await stopped(container, second.child)).toBe(0);
});
