import { expect, test } from "vitest";
import { createApp } from "../../platform/http/app.ts";
import { silentLog } from "../../platform/log.ts";
import { markOrigin } from "../api/index.ts";
import type { PlayableRow } from "./playback-store.ts";
import { watchPages } from "./watch-pages.ts";

const PLAYABLE: PlayableRow = {
  kind: "live",
  has_dvr: false,
  only_while_watched: false,
  id: "s1",
  project_id: "p1",
  user_id: "u1",
  playback_id: "abcd1234abcd1234",
  name: "Stage",
  policy: null,
  signing_keys: [],
  suspended: false,
  state: "live",
  seconds: 0,
  started_at: null,
  mp4_bytes: null,
  place: null,
  originals_for_keys_only: false,
};

async function get(address: string, row: Partial<PlayableRow> | null, hasOembed = false) {
  const app = createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "https://video.example.com" });
  app.addHook("onRequest", async (request) => markOrigin(request, "https://video.example.com"));
  watchPages(app, {
    playables: { find: async () => (row === null ? undefined : { ...PLAYABLE, ...row }) },
    mediaOrigin: "https://s3.test",
    hasOembed,
    template: "<html><head><title>Video</title></head></html>",
  });
  return app.inject(address);
}

test("a public video's page carries its name and tags that show a player where the link is posted", async () => {
  const { statusCode, body, headers } = await get("/watch/abcd1234abcd1234", { name: `A & "B" $& </title><script>` });
  expect(statusCode).toBe(200);
  expect(body).toContain("<title>A &amp; &quot;B&quot; $&amp; &lt;/title&gt;&lt;script&gt;</title>");
  expect(body).toContain(`<meta property="og:url" content="https://video.example.com/watch/abcd1234abcd1234" />`);
  expect(body).toContain(
    `<meta property="twitter:player" content="https://video.example.com/embed/abcd1234abcd1234" />`,
  );
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(headers["content-security-policy"]).toContain("connect-src 'self' https://s3.test;");
});

test.each<[string, Partial<PlayableRow>, string | null]>([
  ["a live stream's newest picture", {}, "hls/abcd1234abcd1234/source/latest.jpg"],
  ["no picture of an idle stream", { state: "idle" }, null],
  [
    "a recording's thumbnail",
    { kind: "recording", state: "ready" },
    "asset/hls/abcd1234abcd1234/thumbnail.jpg?width=1280",
  ],
])("the tags name %s", async (_situation, row, path) => {
  const { body } = await get("/watch/abcd1234abcd1234", row);
  const [, image = null] = /property="og:image" content="([^"]*)"/.exec(body) ?? [];
  expect(image).toBe(path && `https://video.example.com/${path}`);
});

test("a gated video's page tells neither its name nor its picture", async () => {
  const { body } = await get("/watch/abcd1234abcd1234", { policy: { type: "jwt" } });
  expect(body).toContain("<title>Video</title>");
  expect(body).not.toContain("Stage");
  expect(body).not.toContain("og:image");
});

test("the page of a public video says where oEmbed describes it, if the server does", async () => {
  const href = `https://video.example.com/oembed?url=${encodeURIComponent("https://video.example.com/watch/abcd1234abcd1234")}`;
  const tag = `<link rel="alternate" type="application/json+oembed" href="${href}" />`;
  expect((await get("/watch/abcd1234abcd1234", {}, true)).body).toContain(tag);
  expect((await get("/watch/abcd1234abcd1234", {})).body).not.toContain("oembed");
  expect((await get("/watch/abcd1234abcd1234", { policy: { type: "jwt" } }, true)).body).not.toContain("oembed");
});

test("any page may embed a player, or those of the policy's origins", async () => {
  const open = await get("/embed/abcd1234abcd1234", {});
  expect(open.headers["content-security-policy"]).toMatch(/frame-ancestors \*$/);
  expect(open.headers["x-frame-options"]).toBeUndefined();
  const origins = ["https://a.example", "https://b.example; script-src *"];
  const some = await get("/embed/abcd1234abcd1234", { policy: { type: "public", allowedOrigins: origins } });
  expect(some.headers["content-security-policy"]).toMatch(/frame-ancestors 'self' https:\/\/a\.example$/);
});

test.each(["watch", "embed"])(
  "/%s has no header of its server that forbids to frame it or to cache it privately",
  async (kind) => {
    const { headers } = await get(`/${kind}/abcd1234abcd1234`, {});
    expect(Object.keys(headers)).not.toContain("x-frame-options");
    expect(Object.keys(headers)).not.toContain("cross-origin-opener-policy");
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "private, no-cache" });
  },
);

test("an unknown or suspended video is a page that says so, with 404", async () => {
  expect((await get("/watch/abcd1234abcd1234", null)).statusCode).toBe(404);
  expect((await get("/embed/abcd1234abcd1234", { suspended: true })).statusCode).toBe(404);
});
