import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../http/app.ts";
import { FIRST } from "../http/certificate.fixture.ts";
import { createHttpsServer } from "../http/https-server.ts";
import { TlsFiles } from "../http/tls-files.ts";
import { Listener } from "../listener.ts";
import { silentLog } from "../log.ts";
import { UPLOAD_PREFIXES } from "./upload-server.ts";
import { MAX_BYTES, startUploads, tokenOf } from "./upload-test-rig.ts";

/** The same uploads over TLS, by HTTP/2. */
async function startSecure() {
  const rig = await startUploads();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  const folder = await mkdtemp(join(tmpdir(), "weir-h2-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  await writeFile(cert, FIRST.cert);
  await writeFile(key, FIRST.key);
  const server = await createHttpsServer({
    listener: new Listener("HTTPS", "127.0.0.1", 0),
    clock: rig.clock,
    mediaPrefixes: [],
    app: createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "" }),
    tls: await TlsFiles.open({ cert, key, clock: rig.clock, log: silentLog }),
    media: (_request, response) => void response.writeHead(404).end(),
    uploads: { prefixes: UPLOAD_PREFIXES, handle: rig.handle },
  });
  const session = connect(`https://localhost:${server.port}`, { ca: FIRST.cert });
  onTestFinished(async () => {
    session.destroy();
    await server.close();
  });
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: Uint8Array) => {
    const stream = session.request({ ":method": method, ":path": path, "tus-resumable": "1.0.0", ...headers });
    stream.on("error", () => {});
    stream.end(body);
    const [head] = await once(stream, "response");
    return { status: head[":status"], head, body: await text(stream).catch(() => "") };
  };
  return { rig, ask };
}

const DIRECT = "/api/asset/upload/direct";
const TUS = "/api/asset/upload/tus";

test("files come in over HTTP/2 as over HTTP/1.1", async () => {
  const { rig, ask } = await startSecure();
  const file = randomBytes(700_000);
  expect((await ask("PUT", `${DIRECT}?token=${tokenOf("put")}`, {}, file)).status).toBe(200);

  const begun = await ask("POST", `${TUS}?token=${tokenOf("tus")}`, { "upload-length": String(file.length) });
  expect(begun.status).toBe(201);
  const address = String(begun.head.location);
  const patch = (offset: number, bytes: Uint8Array) =>
    ask(
      "PATCH",
      address,
      { "content-type": "application/offset+octet-stream", "upload-offset": String(offset) },
      bytes,
    );
  expect((await patch(0, file.subarray(0, 300_000))).status).toBe(204);
  expect((await patch(0, file)).status).toBe(409);
  expect((await ask("HEAD", address)).head["upload-offset"]).toBe("300000");
  expect((await patch(300_000, file.subarray(300_000))).status).toBe(204);
  await rig.server.settle();
  for (const id of ["put", "tus"]) expect((await rig.stored(id)).equals(file)).toBe(true);
});

test("a refusal over HTTP/2 is read, and leaves the connection to others", async () => {
  const { ask } = await startSecure();
  const tooLarge = await ask("PUT", `${DIRECT}?token=${tokenOf("large")}`, {}, new Uint8Array(MAX_BYTES + 1));
  expect(tooLarge.status).toBe(413);
  expect((await ask("PUT", `${DIRECT}?token=forged`, {}, Buffer.from("abc"))).status).toBe(403);
  expect((await ask("PUT", `${DIRECT}?token=${tokenOf("small")}`, {}, Buffer.from("abc"))).status).toBe(200);
});
