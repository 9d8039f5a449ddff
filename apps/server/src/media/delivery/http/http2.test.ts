import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createApp } from "../../../platform/http/app.ts";
import { FIRST } from "../../../platform/http/certificate.fixture.ts";
import { createHttpsServer } from "../../../platform/http/https-server.ts";
import { TlsFiles } from "../../../platform/http/tls-files.ts";
import { Listener } from "../../../platform/listener.ts";
import { silentLog } from "../../../platform/log.ts";
import { MediaRig } from "../../testing/media-rig.ts";

test("playlists, parts, ranges, waits and refusals are the same over HTTP/2", async () => {
  await using rig = await MediaRig.open();
  const { clock } = rig;
  const folder = await mkdtemp(join(tmpdir(), "weir-h2-"));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  await writeFile(cert, FIRST.cert);
  await writeFile(key, FIRST.key);
  const server = await createHttpsServer({
    ...{ listener: new Listener("HTTPS", "127.0.0.1", 0), clock, mediaPrefixes: ["/"] },
    app: createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "" }),
    tls: await TlsFiles.open({ cert, key, clock, log: silentLog }),
    media: (req, res) => rig.plane.handleHttp(req, res),
  });
  const session = connect(`https://localhost:${server.port}`, { ca: FIRST.cert });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const stream = session.request({ ":path": path, ...headers });
    const [head] = await once(stream, "response");
    return { status: head[":status"], head, body: await buffer(stream) };
  };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 7 });
  const master = "/hls/playstream1/index.m3u8";
  const source = await rig.sourceOf(master);
  const playlist = await rig.text(`${source}/index.m3u8`);
  const segment = /^\d+\.m4s$/m.exec(playlist)?.[0];
  for (const path of [
    master,
    `${source}/index.m3u8`,
    `${source}/${segment}`,
    "/hls/unknown1/index.m3u8",
    "/hls/x",
    "/webrtc/a",
  ]) {
    const [one, two] = [await rig.fetch(path), await ask(path)];
    expect([path, two.status, two.body.equals(Buffer.from(await one.arrayBuffer()))]).toEqual([path, one.status, true]);
    expect(two.head["content-type"]).toBe(one.headers.get("content-type"));
  }
  const range = await ask(`${source}/${segment}`, { range: "bytes=2-5" });
  expect([range.status, range.body.length, range.head["content-range"]]).toEqual([
    206,
    4,
    expect.stringMatching(/^bytes 2-5/),
  ]);
  expect((await ask(master, { ":method": "HEAD" })).status).toBe(200);
  expect((await ask(master, { ":method": "PUT" })).status).toBe(405);
  // A waiting request is answered when its part is published.
  const [, next] = /PRELOAD-HINT:TYPE=PART,URI="(\d+)\./.exec(playlist) ?? [];
  const waiting = ask(`${source}/index.m3u8?_HLS_msn=${next}`);
  await rig.send(publication, { seconds: 4, clockAt: 7 });
  expect((await waiting).status).toBe(200);
  expect(rig.plane.figures.waitingRequests).toBe(0);
  session.destroy();
  await server.close();
  await rm(folder, { recursive: true });
});
