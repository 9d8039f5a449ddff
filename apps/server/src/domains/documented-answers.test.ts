import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { RequestedUpload, SigningKey, Stream, Webhook, WebhookLog } from "@weir/contract";
import { exampleIds, examplePlaybackIds, exampleStreamKey } from "@weir/contract/descriptions";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describedRoutes } from "./api/index.ts";
import { kit, segment, setUpLiveRig, tell } from "./live-test-rig.ts";

/*
 * Sends the example request of every GET operation to a server that has one thing of each kind, under the ids of the examples. The answer has to
 * fit its schema, to hold no field that the schema does not name, and to have the types of the example.
 */

setUpLiveRig();
const receiver = createServer((_request, response) => response.end("ok")).listen(0, "127.0.0.1");
let world: ReadonlyMap<string, string>;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => void receiver.close());

const operations = describedRoutes.filter(({ route }) => route.method === "GET");

/** Lists that have no element in this world. Their elements are answered by other operations of this test. */
const EMPTY = ["listClips", "listAssetClips", "listRefusedPublishes", "listSessionClips", "listStreamClips"];

it.each(operations)("$name answers as its example does", async ({ name, route, description: { example } }) => {
  const path = route.path.replaceAll(/:(\w+)/g, (_, param: string) => inWorld(example.params?.[param] ?? ""));
  const query = new URLSearchParams(
    Object.entries(example.query ?? {}).map(([key, value]): [string, string] => [key, inWorld(value)]),
  );
  // Nobody watched in this world, so a breakdown would be empty.
  for (const cut of ["breakdownBy", "timeStep"]) query.delete(cut);
  for (const time of ["from", "to"])
    if (query.has(time)) query.set(time, String(kit.clock.now() - (time === "from" ? 3_600_000 : 0)));
  const headers = { authorization: kit.apiKey, accept: "application/json" };
  const answer = await kit.call("GET", `${path}?${query}`, undefined, headers);
  expect([answer.statusCode, answer.body]).toEqual([route.success.status, expect.any(String)]);
  const body: unknown = answer.json();
  const schema = route.success.body as TSchema;
  expect(Value.Check(schema, body) ? null : Value.Errors(schema, body)[0]).toBeNull();
  expect(undeclared(schema, body, name)).toEqual([]);
  expect(otherTypes(example.answer, body, name)).toEqual([]);
  expect(Array.isArray(body) && body.length === 0).toBe(EMPTY.includes(name));
});

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape | readonly Shape[];
  readonly anyOf?: readonly Shape[];
}

/** The paths of fields that no schema names. */
function undeclared(schema: Shape, value: unknown, path: string): string[] {
  if (schema.anyOf) {
    const all = schema.anyOf
      .filter((one) => Value.Check(one as TSchema, value))
      .map((one) => undeclared(one, value, path));
    return all.find((found) => found.length === 0) ?? all[0] ?? [];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined || Array.isArray(items)
      ? []
      : value.flatMap((one) => undeclared(items as Shape, one, `${path}[]`));
  }
  const { properties } = schema;
  if (properties === undefined || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const declared = properties[name];
    return declared ? undeclared(declared, inner, `${path}.${name}`) : [`${path}.${name}`];
  });
}

/** The paths at which two values have different types. Null stands for any type: the schema says where it may. */
function otherTypes(example: unknown, value: unknown, path: string): string[] {
  if (example === null || value === null || example === undefined) return [];
  const [expected, found] = [typeOf(example), typeOf(value)];
  if (expected !== found) return [`${path}: ${expected} in the example, ${found} in the answer`];
  if (Array.isArray(value))
    return value.length === 0 ? [] : otherTypes((example as unknown[])[0], value[0], `${path}[]`);
  if (typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    otherTypes((example as Record<string, unknown>)[name], inner, `${path}.${name}`),
  );
}

const typeOf = (value: unknown): string => (Array.isArray(value) ? "array" : typeof value);

/** The id of this world in the place of an example's. */
function inWorld(value: string): string {
  return world.get(value) ?? value;
}

async function makeWorld(): Promise<ReadonlyMap<string, string>> {
  const post = async <Body>(path: string, body: unknown) => (await kit.call("POST", path, body)).json<Body>();
  const target = { profile: "source", spec: { url: "rtmp://example.com/live/key" } };
  const details = {
    record: true,
    creatorId: "creator-42",
    userTags: { venue: "hall-1" },
    playbackPolicy: { type: "public" },
  };
  const stream = await post<Stream>("/api/stream", { name: "a", ...details, multistream: { targets: [target] } });
  const request = { protocol: "rtmp", streamKey: stream.streamKey ?? "", remoteAddress: "127.0.0.1" } as const;
  const decision = await kit.domains.publishGate.authorize(request);
  if (!decision.ok) throw new Error(decision.reason);
  const session = await kit.domains.publishGate.begin(decision.grant, kit.clock.now());
  await tell(kit.domains, segment(decision.grant, session?.sessionId ?? "", 1));
  const { asset, task } = await post<RequestedUpload>("/api/asset/request-upload", { name: "film.mp4" });
  const signingKey = await post<SigningKey>("/api/access-control/signing-key", {});
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const webhook = await post<Webhook>("/api/webhook", {
    name: "backend",
    url,
    events: ["stream.started"],
    sharedSecret: "s",
  });
  const call = await post<WebhookLog>(`/api/webhook/${webhook.id}/test`, { event: "stream.started" });
  return new Map([
    [exampleIds.account, stream.userId],
    [exampleIds.project, stream.projectId],
    [exampleIds.stream, stream.id],
    [exampleIds.session, session?.sessionId ?? ""],
    [exampleIds.target, stream.multistream.targets[0]?.id ?? ""],
    [exampleIds.asset, asset.id],
    [exampleIds.task, task.id],
    [exampleIds.webhook, webhook.id],
    [exampleIds.call, call.id],
    [exampleIds.signingKey, signingKey.id],
    [examplePlaybackIds.stream, stream.playbackId],
    [exampleStreamKey, stream.streamKey ?? ""],
  ]);
}
