import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { MESSAGE } from "@weir/formats/rtmp";
import { afterAll, beforeEach, expect, test } from "vitest";
import { FIRST, RENEWED } from "../../../platform/http/certificate.fixture.ts";
import { TlsFiles } from "../../../platform/http/tls-files.ts";
import { Listener } from "../../../platform/listener.ts";
import { silentLog } from "../../../platform/log.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { makeTestFolder } from "../../../platform/test-folder-rig.ts";
import { aacConfig, avcConfig, avcKeyframe } from "./rtmp-media.fixture.ts";
import { RtmpTestClient } from "./rtmp-test-client.ts";
import { RtmpTestServer } from "./rtmp-test-server.ts";

const folder = makeTestFolder("rtmps");
const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
const write = (identity: typeof FIRST) => Promise.all([writeFile(cert, identity.cert), writeFile(key, identity.key)]);
const opened: RtmpTestServer[] = [];
beforeEach(() => write(FIRST));
afterAll(() => Promise.all(opened.map((server) => server[Symbol.asyncDispose]())));

async function open(options: { readonly maxConnections?: number } = {}) {
  const clock = new ManualClock();
  const listener = new Listener("RTMPS", "127.0.0.1", 0);
  const tls = await TlsFiles.open({ cert, key, clock, log: silentLog });
  const server = await RtmpTestServer.start({ ...options, secure: { listener, tls } });
  opened.push(server);
  return { server, clock, port: () => listener.port };
}

async function publish(port: number, ca: string): Promise<RtmpTestClient> {
  const client = await RtmpTestClient.openSecure(port, ca);
  client.greet();
  client.connect();
  client.publish("Right-Key");
  expect((await client.status()).code).toBe("NetStream.Publish.Start");
  return client;
}

test("a publisher over TLS is a publisher like any other", async () => {
  const { server, port } = await open();
  const client = await publish(port(), FIRST.cert);
  client.message(MESSAGE.video, avcConfig(), 0);
  client.message(MESSAGE.audio, aacConfig(), 0);
  client.message(MESSAGE.video, avcKeyframe(), 0);
  await expect.poll(() => server.publication.packets.length).toBe(1);
  expect(server.publication.tracks.map(({ kind }) => kind)).toEqual(["video", "audio"]);
});

test("a renewed certificate is used without a restart, and a publisher with the one before goes on", async () => {
  const { server, clock, port } = await open();
  const before = await publish(port(), FIRST.cert);
  await write(RENEWED);
  clock.advance(10_000);
  const after = async () => (await RtmpTestClient.openSecure(port(), RENEWED.cert).catch(() => null)) !== null;
  await expect.poll(after).toBe(true);
  before.message(MESSAGE.video, avcConfig(), 0);
  await expect.poll(() => server.publication.tracks.length).toBe(1);
});

test("who speaks plain RTMP to the port, or nothing, is closed, and both ports share the limit of connections", async () => {
  const { port, server } = await open({ maxConnections: 10 });
  const plain = await RtmpTestClient.open(port());
  plain.greet();
  await plain.closed;
  const silent = Array.from({ length: 11 }, () => connect(port(), "127.0.0.1").on("error", () => {}));
  await expect.poll(() => silent.every(({ readyState }) => readyState === "open")).toBe(true);
  const refused = await RtmpTestClient.open(server.listener.port);
  await refused.closed;
  for (const socket of silent) socket.destroy();
  await expect
    .poll(() =>
      publish(port(), FIRST.cert).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
});
