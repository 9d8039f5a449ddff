import { createHash } from "node:crypto";
import { expect, test, vi } from "vitest";
import { elementCode, fetchPlayerScript } from "./share-code.ts";

const video = { origin: "https://w.test", playbackId: "abcd1234", playlist: "/hls/abcd1234/index.m3u8" };

test("the code for the web component names the version of the player with its hash", async () => {
  const script = "customElements.define('weir-player', class {})";
  const response = Object.defineProperty(new Response(script), "url", { value: "https://w.test/player-0.1.0-c12.js" });
  vi.stubGlobal("fetch", async () => response);
  const hash = createHash("sha384").update(script).digest("base64");
  expect(elementCode(video, await fetchPlayerScript())).toBe(`<script
  type="module"
  src="https://w.test/player-0.1.0-c12.js"
  integrity="sha384-${hash}"
  crossorigin="anonymous"
></script>
<weir-player playback-id="abcd1234"></weir-player>`);
});

test("without HTTPS a browser computes no hash, and the code has none", () => {
  const code = elementCode(video, { path: "/player-0.1.0-c12.js", integrity: null });
  expect(code).not.toContain("integrity");
  expect(code).toContain('src="https://w.test/player-0.1.0-c12.js"\n></script>');
});
