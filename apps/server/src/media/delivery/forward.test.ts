import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ForwardOptions, NodePlace, OtherNodes } from "../../platform/cluster/index.ts";
import { NO_LADDER } from "../testing/fake-gates.ts";
import { MediaRig } from "../testing/media-rig.ts";

const PLACE: NodePlace = { nodeId: "owner", address: "127.0.0.1:1" };
const LIVE = "/hls/playstream1";

let owner: MediaRig;
let asked: MediaRig;
let sent: ForwardOptions[];
/** Where the stream is, for the node that is asked. */
let place: NodePlace | null;
let outcome: "answered" | "failed" | "full";

/** The way between the two nodes, without its network. */
const others = {
  self: "asked",
  moved: () => {},
  placeOf: () => place,
  /** Each counts what it serves. */
  media: async () => [],
  /** No copies: all is forwarded. */
  read: () => Promise.reject(new Error("not here")),
  async send(
    req: Parameters<OtherNodes["send"]>[0],
    res: Parameters<OtherNodes["send"]>[1],
    to: NodePlace,
    options: ForwardOptions,
  ) {
    expect(to).toBe(PLACE);
    sent.push(options);
    if (outcome !== "answered") return outcome;
    req.url = options.url ?? req.url ?? "";
    const { admitted = null, isQuestion = false } = options;
    owner.plane.handleHttp(req, res, { admitted, isQuestion, body: null });
    await once(res, "close");
    return outcome;
  },
} as unknown as OtherNodes;

beforeEach(async () => {
  [sent, place, outcome] = [[], PLACE, "answered"];
  owner = await MediaRig.open();
  asked = await MediaRig.open(NO_LADDER.admission, others);
  const { publication } = owner.publish();
  await owner.send(publication, { seconds: 5 });
});
afterEach(async () => {
  await asked[Symbol.asyncDispose]();
  await owner[Symbol.asyncDispose]();
});

const told = (rig: MediaRig) => {
  rig.clock.advance(10_000);
  return rig.facts.viewerCounts.splice(0).reduce((sum, count) => sum + count.begun, 0);
};

test("a stream of another node is served as there, and the viewer is counted there, once", async () => {
  const headers = { "x-forwarded-for": "198.51.100.1" };
  const source = await asked.sourceOf(`${LIVE}/index.m3u8`, headers);
  const list = await (await asked.fetch(`${source}/index.m3u8`, { headers })).text();
  expect(list).toBe(await (await owner.fetch(`${source}/index.m3u8`, { headers })).text());
  const [segment] = /^\d+\.m4s$/m.exec(list) ?? [];
  expect(await asked.bytes(`${source}/${segment}`)).toEqual(await owner.bytes(`${source}/${segment}`));
  expect([told(owner), told(asked)]).toEqual([1, 0]);
});

test("a gate is asked by the node that the viewer asks alone, and what it refuses is not forwarded", async () => {
  for (const rig of [owner, asked]) rig.playbackGate.policy = "webhook";
  expect((await asked.fetch(`${LIVE}/index.m3u8`)).status).toBe(401);
  expect(sent).toEqual([]);
  const source = await asked.sourceOf(`${LIVE}/index.m3u8?accessKey=good`);
  expect((await asked.fetch(`${source}/index.m3u8`)).status).toBe(200);
  expect([asked.playbackGate.opened.length, owner.playbackGate.opened.length]).toEqual([2, 0]);
  expect(owner.playbackGate.rechecked).toEqual([]);
  expect([told(owner), told(asked)]).toEqual([1, 0]);
});

test("an admission names its playback id, and whom the owner has refused for good stays refused", async () => {
  for (const rig of [owner, asked]) rig.playbackGate.policy = "jwt";
  const source = await asked.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
  const admitted = sent.at(-1)?.admitted ?? "";
  expect(JSON.parse(admitted)).toMatchObject({ playbackId: "playstream1", isFull: false });
  owner.playbackGate.allowed.clear();
  owner.plane.accessChanged("all");
  expect((await owner.fetch(`${source}/index.m3u8`)).status).toBe(401);
  expect((await asked.fetch(`${source}/index.m3u8`)).status).toBe(401);
});

test("an edge's question is answered by the node that has the stream", async () => {
  const ask = (uri: string) => asked.fetch("/hls/authorize", { headers: { "x-original-uri": uri } });
  expect((await ask(`${LIVE}/index.m3u8`)).status).toBe(204);
  expect(sent.at(-1)).toMatchObject({ isQuestion: true, url: `${LIVE}/index.m3u8` });
});

test("a node that does not answer makes the request fail for now, and a stream that is here is not asked for elsewhere", async () => {
  outcome = "failed";
  expect((await asked.fetch(`${LIVE}/index.m3u8`)).status).toBe(503);
  outcome = "full";
  expect((await asked.fetch(`${LIVE}/index.m3u8`)).status).toBe(503);
  const { publication } = asked.publish();
  await asked.send(publication, { seconds: 5 });
  const before = sent.length;
  expect((await asked.fetch(`${LIVE}/index.m3u8`)).status).toBe(200);
  place = null;
  expect(sent.length).toBe(before);
});
