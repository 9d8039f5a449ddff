import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { CreatedSigningKey, SigningKey } from "@weir/contract";
import { afterAll, describe, expect, it } from "vitest";
import { addProject, startTestDomains } from "../domain-test-kit.ts";

const PATH = "/api/access-control/signing-key";

const kit = await startTestDomains();
afterAll(() => kit[Symbol.asyncDispose]());

const authorization = `Bearer ${kit.apiKey}`;
const create = async (body?: unknown) => (await kit.call("POST", PATH, body)).json<CreatedSigningKey>();
const pemOf = (base64: string) => Buffer.from(base64, "base64").toString();

describe("signing keys", () => {
  it("one is made without a body, and shows a private key that fits the public one", async () => {
    // As the public client sends it: no body, no content type.
    const answer = await kit.call("POST", PATH, undefined, { authorization, "content-length": "0" });
    expect(answer.statusCode).toBe(200);
    const { publicKey, privateKey, ...record } = answer.json<CreatedSigningKey>();
    expect(record).toEqual({
      id: expect.any(String),
      kind: "signing-key",
      name: "Signing Key 1",
      userId: expect.any(String),
      projectId: expect.any(String),
      disabled: false,
      createdAt: kit.clock.now(),
    });
    expect(pemOf(publicKey)).toMatch(/^-----BEGIN PUBLIC KEY-----/);
    expect(pemOf(privateKey)).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    const key = createPrivateKey(pemOf(privateKey));
    expect(key.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
    const data = Buffer.from("text");
    expect(verify("sha256", data, createPublicKey(pemOf(publicKey)), sign("sha256", data, key))).toBe(true);
  });

  it("the private key is kept nowhere", async () => {
    const { id, privateKey } = await create({ name: "once" });
    const record = (await kit.call("GET", `${PATH}/${id}`)).json<SigningKey>();
    expect(record).toMatchObject({ id, name: "once" });
    expect(Object.keys(record)).not.toContain("privateKey");
    const row = await kit.db.selectFrom("signing_key").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(privateKey);
    expect((await kit.call("GET", PATH)).body).not.toContain(privateKey);
  });

  it("is renamed and disabled, and the media floor is told of what counts", async () => {
    const { id } = await create();
    const asked = kit.asked.accessChanges.length;
    expect((await kit.call("PATCH", `${PATH}/${id}`, { name: "other" })).statusCode).toBe(204);
    expect((await kit.call("PATCH", `${PATH}/${id}`, {})).statusCode).toBe(204);
    expect(kit.asked.accessChanges).toHaveLength(asked);
    expect((await kit.call("PATCH", `${PATH}/${id}`, { disabled: true })).statusCode).toBe(204);
    expect(kit.asked.accessChanges.slice(asked)).toEqual(["all"]);
    expect((await kit.call("GET", `${PATH}/${id}`)).json()).toMatchObject({ name: "other", disabled: true });
    expect((await kit.call("PATCH", `${PATH}/${id}`, { publicKey: "x" })).statusCode).toBe(422);
  });

  it("is deleted once", async () => {
    const { id } = await create();
    const asked = kit.asked.accessChanges.length;
    expect((await kit.call("DELETE", `${PATH}/${id}`)).statusCode).toBe(204);
    expect(kit.asked.accessChanges.slice(asked)).toEqual(["all"]);
    for (const method of ["GET", "DELETE"] as const) {
      expect((await kit.call(method, `${PATH}/${id}`)).statusCode).toBe(404);
    }
    expect((await kit.call("PATCH", `${PATH}/${id}`, { disabled: true })).statusCode).toBe(404);
    expect((await kit.call("GET", `${PATH}/no-id`)).statusCode).toBe(404);
  });

  it("a project that has more than ten gets no other one, however many ask at once", async () => {
    const { apiKey } = await addProject(kit.db, "many");
    const headers = { authorization: `Bearer ${apiKey}` };
    const answers = await Promise.all(Array.from({ length: 20 }, () => kit.call("POST", PATH, {}, headers)));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(11);
    expect(answers.filter(({ statusCode }) => statusCode === 403)).toHaveLength(9);
    const names = answers.flatMap(({ statusCode, json }) => (statusCode === 200 ? [json().name as string] : []));
    expect(new Set(names).size).toBe(11);
  });

  it("is not made in somebody else's project", async () => {
    const { projectId } = await create();
    expect((await kit.call("POST", PATH, { projectId })).statusCode).toBe(200);
    const { apiKey } = await addProject(kit.db, "stranger");
    const headers = { authorization: `Bearer ${apiKey}` };
    expect((await kit.call("POST", PATH, { projectId }, headers)).statusCode).toBe(404);
  });
});
