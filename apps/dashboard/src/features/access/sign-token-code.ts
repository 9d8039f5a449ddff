/** Code for Node.js that signs a token: one viewer may watch one playback id for an hour. It needs no packages. */
export function nodeSample(playbackId: string): string {
  const call = `console.log(tokenFor("${playbackId}"));`;
  return `import { createPrivateKey, createPublicKey, sign } from "node:crypto";

// The private key that Weir showed when the signing key was created.
const privateKey = createPrivateKey(Buffer.from(process.env.SIGNING_KEY, "base64"));
const publicPem = createPublicKey(privateKey).export({ type: "spki", format: "pem" });
const publicKey = Buffer.from(publicPem).toString("base64");

export function tokenFor(playbackId, seconds = 3600) {
  const now = Math.floor(Date.now() / 1000);
  const unsigned = [
    { alg: "ES256", typ: "JWT" },
    { sub: playbackId, pub: publicKey, iat: now, exp: now + seconds },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const signature = sign("sha256", Buffer.from(unsigned), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return \`\${unsigned}.\${signature.toString("base64url")}\`;
}

${call}
`;
}
