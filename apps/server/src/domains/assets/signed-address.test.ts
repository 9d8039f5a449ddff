import type { Access, Asset, CreatedApiToken, Task } from "@weir/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { readTask } from "../tasks/index.ts";
import { readAsset } from "./asset-record.ts";

const ADDRESS = "https://films.example.com/a.mp4";
const SIGNATURE = "X-Amz-Signature=5ecret";

let kit: TestDomains;
let cookie: Record<string, string>;
let asset: Asset;
let task: Pick<Task, "id">;

beforeAll(async () => {
  kit = await startTestDomains();
  const signedIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
  cookie = { cookie: String(signedIn.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
  const body = { name: "film", url: `${ADDRESS}?${SIGNATURE}` };
  ({ asset, task } = (await kit.call("POST", "/api/asset/upload/url", body)).json<{ asset: Asset; task: Task }>());
});

afterAll(() => kit[Symbol.asyncDispose]());

async function keyWith(access: Access | undefined): Promise<Record<string, string>> {
  const answer = await kit.call("POST", "/api/api-token", access ? { access } : {}, cookie);
  return { authorization: `Bearer ${answer.json<CreatedApiToken>().key}` };
}

/** Of the addresses that show where the file comes from and that the key may read, those that show the signature. */
async function tellers(headers: Record<string, string>): Promise<string[]> {
  const told: string[] = [];
  for (const url of [`/api/asset/${asset.id}`, "/api/asset?details=1", `/api/task/${task.id}`, "/api/task"]) {
    const { statusCode, body } = await kit.call("GET", url, undefined, headers);
    if (statusCode !== 200) continue;
    expect(body).toContain(ADDRESS);
    if (body.includes(SIGNATURE)) told.push(url);
  }
  return told;
}

it.each<[string, Access | undefined, number]>([
  ["may do everything sees", undefined, 4],
  ["may change assets sees", { rules: [{ resources: ["asset", "asset/*", "task/*", "task"], methods: ["*"] }] }, 4],
  ["may only read does not see", { rules: [{ resources: ["*"], methods: ["get"] }] }, 0],
  ["stands in a page does not see", { cors: { allowedOrigins: ["https://app.test"] } }, 0],
])("a key that %s the query of the address that an asset was fetched from", async (_, access, count) => {
  expect(await tellers(await keyWith(access))).toHaveLength(count);
});

it("webhooks do not tell it", async () => {
  const told = [await readAsset(kit.db, asset.id, "http://weir.test"), await readTask(kit.db, task.id)];
  for (const each of told) {
    expect(JSON.stringify(each)).toContain(ADDRESS);
    expect(JSON.stringify(each)).not.toContain(SIGNATURE);
  }
});
