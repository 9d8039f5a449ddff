import type { Asset, NewTranscode, RequestedUpload } from "@weir/contract";
import { afterAll, expect, it } from "vitest";
import { startTestDomains } from "../domain-test-kit.ts";

/* Hostile input 36 and 37: names are words for people, and nothing else. */

const kit = await startTestDomains();
afterAll(() => kit[Symbol.asyncDispose]());

const NAMES = [
  "-i",
  "--protocol_whitelist=all",
  "; rm -rf /*",
  "$(touch /tmp/x)",
  "`id`",
  "a\nb\r\nSet-Cookie: x=1",
  "../../../etc/passwd",
  "C:\\windows\\system32",
  '<script>alert(1)</script>"onerror="x',
  "\u202egpj.exe\u2066",
  "\u0007bell\u001b[31m",
  "’ or 1=1; --",
  "%s%n{{7*7}}",
];

it.each(NAMES)("%j is kept as it is, and is part of no key or address", async (name) => {
  const requested = (await kit.call("POST", "/api/asset/request-upload", { name })).json<RequestedUpload>();
  const { asset, url, tusEndpoint } = requested;
  expect(asset.name).toBe(name);
  expect((await kit.call("GET", `/api/asset/${asset.id}`)).json<Asset>().name).toBe(name);
  const { uploads } = kit.domains;
  const key = await uploads.received(asset.id, 10);
  expect(key).toBe(`v1/${asset.projectId}/asset/${asset.id}/source/original`);
  for (const text of [url, tusEndpoint, asset.playbackUrl ?? ""]) expect(text).toMatch(/^[\x21-\x7e]*$/);
  const listed = await kit.call(
    "GET",
    `/api/asset?filters=${encodeURIComponent(JSON.stringify([{ id: "id", value: asset.id }]))}`,
  );
  expect([listed.headers["content-type"], listed.json<Asset[]>().map((one) => one.name)]).toEqual([
    expect.stringContaining("application/json"),
    [name],
  ]);
});

it("a title of a megabyte is refused, and one with a zero in it", async () => {
  const ask = async (name: string) => (await kit.call("POST", "/api/asset/request-upload", { name })).statusCode;
  expect(await ask("x".repeat(1_000_000))).toBe(422);
  expect(await ask("a\0b")).toBeOneOf([400, 422]);
  expect(await ask("\ud800")).toBeOneOf([200, 400, 422]);
});

it("a path of a customer's bucket goes to the store as it is, without control characters", async () => {
  const s3 = { type: "s3", endpoint: "https://s3.example.com", bucket: "films" } as const;
  const storage = { ...s3, credentials: { accessKeyId: "id", secretAccessKey: "secret" } };
  const ask = async (path: string) => {
    const body: NewTranscode = { input: { ...storage, path }, storage, outputs: { hls: { path } } };
    return (await kit.call("POST", "/api/transcode", body)).statusCode;
  };
  for (const name of NAMES)
    expect([name, await ask(`/${name}`)]).toEqual([name, /\p{Cc}|\.\./u.test(name) ? 400 : 200]);
});
