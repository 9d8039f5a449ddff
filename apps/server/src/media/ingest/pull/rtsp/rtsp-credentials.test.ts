import { expect, it } from "vitest";
import { RtspCredentials } from "./rtsp-credentials.ts";

/** RFC 7616 3.9.1. */
const CHALLENGE = {
  nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
  opaque: "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
};
const OWN = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
const RESPONSES = {
  MD5: "8ca523f5e9506fed4657c9700eebdbec",
  "SHA-256": "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
};

const challenge = (algorithm: string) =>
  `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="${CHALLENGE.nonce}", opaque="${CHALLENGE.opaque}"`;

function answers(...algorithms: string[]): string | null {
  const credentials = new RtspCredentials({ username: "Mufasa", password: "Circle%20of%20Life" }, () => OWN);
  expect(credentials.take(algorithms.map(challenge))).toBe(true);
  return credentials.answer("GET", "/dir/index.html");
}

it.each(["MD5", "SHA-256"] as const)("the example of RFC 7616 is answered as it says, with %s", (algorithm) => {
  expect(answers(algorithm)).toBe(
    `Digest username="Mufasa", realm="http-auth@example.org", nonce="${CHALLENGE.nonce}", uri="/dir/index.html", ` +
      `response="${RESPONSES[algorithm]}", opaque="${CHALLENGE.opaque}", algorithm=${algorithm}, ` +
      `qop=auth, nc=00000001, cnonce="${OWN}"`,
  );
});

it("of several algorithms the strongest known one is answered, in whatever order they come", () => {
  for (const offered of [
    ["MD5", "SHA-256"],
    ["SHA-512-256", "SHA-256", "MD5"],
  ])
    expect(answers(...offered)).toContain(RESPONSES["SHA-256"]);
  expect(answers("SHA-512-256", "MD5")).toContain(RESPONSES.MD5);
});
