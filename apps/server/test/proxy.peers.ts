import { request } from "node:https";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FIRST } from "../src/platform/http/certificate.fixture.ts";
import { NginxEdge } from "./support/nginx-edge.ts";
import { WeirProcess } from "./support/weir-process.ts";

const MEGABYTE = 1024 * 1024;

let weir: WeirProcess;
let proxy: NginxEdge;

beforeAll(async () => {
  weir = await WeirProcess.start({ env: { WEIR_PUBLIC_URL: "", WEIR_TRUSTED_PROXIES: "127.0.0.1" } });
  proxy = await NginxEdge.startDocumented(weir.httpPort);
});
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await weir?.[Symbol.asyncDispose]();
});

/** A request over TLS to the proxy, on its own port. */
function ask(method: string, path: string, headers: Record<string, string>, body?: Uint8Array | string) {
  return new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
    const sent = request(new URL(path, proxy.httpsUrl), { method, headers, ca: FIRST.cert }, (response) => {
      const { statusCode: status, headers } = response;
      const isJson = headers["content-type"]?.includes("json");
      (isJson ? json(response) : Promise.resolve(response.resume())).then((body) => resolve({ status, body }), reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const JSON_BODY = { "content-type": "application/json" };

test("a file of 6 MB is uploaded through the proxy that the documentation shows, on a port other than 443", async () => {
  const authorization = `Bearer ${weir.apiKey}`;
  const asked = await ask("POST", "/api/asset/request-upload", { ...JSON_BODY, authorization }, '{"name":"six"}');
  const { url } = asked.body as { url: string };
  // The address that the API names is the one that it was asked through.
  expect(url.startsWith(`${proxy.httpsUrl}/`)).toBe(true);
  const { pathname, search } = new URL(url);
  expect((await ask("PUT", pathname + search, {}, new Uint8Array(6 * MEGABYTE))).status).toBe(200);
});

test("the dashboard signs in through it", async () => {
  const headers = { ...JSON_BODY, origin: proxy.httpsUrl };
  const signIn = await ask("POST", "/api/dashboard/sign-in", headers, JSON.stringify({ apiKey: weir.apiKey }));
  expect(signIn).toMatchObject({ status: 204 });
});
