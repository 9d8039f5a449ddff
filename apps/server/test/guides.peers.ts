import { execFile, spawn } from "node:child_process";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { importSPKI, jwtVerify } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { guideFiles } from "./support/guides.ts";
import { freePort } from "./support/weir-process.ts";

const files = guideFiles("docs/6-guides/signed-playback.md");
/** Debian's packages; those of the system, and not of the user's own versions. */
const LANGUAGES = [
  { file: "sign.py", command: ["/usr/bin/python3", "sign.py"], needs: "python3-jwt and python3-cryptography" },
  { file: "sign.go", command: ["go", "run", "sign.go"], needs: "golang-go" },
  { file: "sign.php", command: ["php", "sign.php"], needs: "php-cli" },
  { file: "sign.mjs", command: [process.execPath, "sign.mjs"], needs: "nothing" },
];

test.each(LANGUAGES)("a token signed by $file of the guide is valid (needs $needs)", async ({ file, command }) => {
  const folder = makeTestFolder("guide");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pem = { privateKey: { type: "pkcs8", format: "pem" }, publicKey: { type: "spki", format: "pem" } } as const;
  const key = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: pem.privateKey,
    publicKeyEncoding: pem.publicKey,
  });
  const publicKey = Buffer.from(key.publicKey).toString("base64");
  const shown = { privateKey: Buffer.from(key.privateKey).toString("base64"), publicKey };
  writeFileSync(join(folder, "key.json"), JSON.stringify(shown));
  writeFileSync(join(folder, file), files.get(file) ?? "");
  const [program = "", ...args] = command;
  const env = { PATH: process.env.PATH, HOME: folder, PLAYBACK_ID: "abcd1234abcd1234" };
  // Both numbers of a signature may be short: one in 128 has a leading zero.
  for (let run = 0; run < 5; run++) {
    const { stdout } = await promisify(execFile)(program, args, { cwd: folder, env });
    const { payload, protectedHeader } = await jwtVerify(stdout, await importSPKI(key.publicKey, "ES256"));
    expect(protectedHeader).toMatchObject({ alg: "ES256", typ: "JWT" });
    expect(payload).toMatchObject({ sub: "abcd1234abcd1234", pub: publicKey });
  }
});

test("the Flask receiver of the guide takes signed requests, and refuses others and old ones (needs python3-flask)", async () => {
  const folder = makeTestFolder("guide");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "receiver.py"), guideFiles("docs/6-guides/webhook-receiver.md").get("receiver.py") ?? "");
  const port = await freePort();
  const secret = "a secret of the test";
  const args = ["-m", "flask", "--app", "receiver", "run", "--port", String(port)];
  const env = { PATH: process.env.PATH, HOME: folder, WEBHOOK_SECRET: secret };
  const flask = spawn("/usr/bin/python3", args, { cwd: folder, env, stdio: "ignore" });
  onTestFinished(() => void flask.kill("SIGTERM"));
  const send = async (timestamp: number, key: string): Promise<number> => {
    const body = JSON.stringify({ id: "1", event: "stream.started", timestamp });
    const signature = `t=${timestamp},v1=${createHmac("sha256", key).update(body).digest("hex")}`;
    const headers = { "content-type": "application/json", "service-signature": signature };
    return fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", body, headers }).then(
      ({ status }) => status,
      () => 0,
    );
  };
  await expect.poll(() => send(Date.now(), secret)).toBe(200);
  expect(await send(Date.now(), "another secret")).toBe(401);
  expect(await send(Date.now() - 600_000, secret)).toBe(401);
});
