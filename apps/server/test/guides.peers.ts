import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { importSPKI, jwtVerify } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { guideFiles } from "./support/guides.ts";

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
