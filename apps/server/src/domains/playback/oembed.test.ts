import { expect, test, vi } from "vitest";
import { createApp } from "../../platform/http/app.ts";
import { silentLog } from "../../platform/log.ts";
import { oembedRoutes, playbackIdIn } from "./oembed.ts";
import type { PlayableRow } from "./playback-store.ts";

const ORIGIN = "https://video.example.com";
const ID = "abcd1234abcd1234";

async function ask(query: Record<string, string>, row: object | null = {}) {
  const known = { kind: "live", playback_id: ID, name: `A "stage"`, policy: null, suspended: false };
  const find = vi.fn(async () => (row === null ? undefined : ({ ...known, ...row } as PlayableRow)));
  const app = createApp({ log: silentLog, openPrefixes: ["/oembed"], ownOrigin: () => ORIGIN });
  oembedRoutes(app, { playables: { find }, publicUrl: () => ORIGIN });
  const answer = await app.inject({
    url: `/oembed?${new URLSearchParams(query)}`,
    headers: { origin: "https://b.test" },
  });
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers, find };
}

test("the address of a watch page becomes a player that any page may read of", async () => {
  const { status, body, headers } = await ask({ url: `${ORIGIN}/watch/${ID}?jwt=x` });
  expect([status, headers["access-control-allow-origin"], headers["cache-control"]]).toEqual([
    200,
    "https://b.test",
    "public, max-age=300",
  ]);
  expect(body).toMatchObject({ version: "1.0", type: "video", title: `A "stage"`, width: 1280, height: 720 });
  expect(body.html).toContain(`<iframe src="${ORIGIN}/embed/${ID}" width="1280" height="720"`);
  expect(body.html).not.toContain("jwt");
  expect(body.thumbnail_url).toBe(`${ORIGIN}/hls/${ID}/thumbnail.jpg?width=1280`);
});

test("the player fits into the room that there is", async () => {
  const url = `${ORIGIN}/embed/${ID}`;
  const sized = async (query: object) => (({ body }) => [body.width, body.height])(await ask({ url, ...query }));
  expect(await sized({ maxwidth: "640" })).toEqual([640, 360]);
  expect(await sized({ maxwidth: "640", maxheight: "180" })).toEqual([320, 180]);
  expect(await sized({ maxwidth: "-1", maxheight: "1e9" })).toEqual([1280, 720]);
});

test("a gated, a suspended and an unknown video have one answer, which a foreign address has too", async () => {
  const url = `${ORIGIN}/watch/${ID}`;
  const answers = await Promise.all([
    ask({ url }, { policy: { type: "jwt" } }),
    ask({ url }, { suspended: true }),
    ask({ url }, null),
    ask({ url: `https://elsewhere.example/watch/${ID}` }),
    ask({}),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  expect(new Set(answers.map(({ body }) => JSON.stringify(body.errors))).size).toBe(1);
  expect(answers.map(({ find }) => find.mock.calls.length)).toEqual([1, 1, 1, 0, 0]);
});

test("XML is not to be had", async () => {
  expect((await ask({ url: `${ORIGIN}/watch/${ID}`, format: "xml" })).status).toBe(501);
});

test.each([
  [`${ORIGIN}/watch/${ID}/`, ID],
  [`${ORIGIN}/watch/../api/${ID}`, null],
  [`${ORIGIN}.evil.test/watch/${ID}`, null],
  [`${ORIGIN}@evil.test/watch/${ID}`, null],
  [`http://video.example.com/watch/${ID}`, null],
  ["javascript:alert(1)", null],
])("%s names %s", (url, id) => expect(playbackIdIn(url, ORIGIN)).toBe(id));
