import { expect, test } from "vitest";
import { reachableAddress } from "./local-addresses.ts";

const elsewhere = { hostname: "192.0.2.2", origin: "http://192.0.2.2:8080" };
const proxied = { hostname: "weir.example", origin: "https://weir.example" };
const here = { hostname: "localhost", origin: "http://localhost:8080" };

test.each([
  ["rtmp://localhost:1935/live", elsewhere, "rtmp://192.0.2.2:1935/live"],
  ["rtmp://127.0.0.1:1935/live", proxied, "rtmp://weir.example:1935/live"],
  ["rtmp://[::1]:1935/live", proxied, "rtmp://weir.example:1935/live"],
  ["http://localhost:8080/hls", elsewhere, "http://192.0.2.2:8080/hls"],
  ["http://localhost:8080/asset/a/video.mp4?x=1", proxied, "https://weir.example/asset/a/video.mp4?x=1"],
  ["http://localhost:8080", proxied, "https://weir.example"],
])("%s, on a page of another machine, names that page's host", (address, page, expected) => {
  expect(reachableAddress(address, page)).toBe(expected);
});

test.each([
  ["rtmp://localhost:1935/live", here],
  ["https://video.example/hls", elsewhere],
  ["rtmp://localhost.example/live", elsewhere],
])("%s is left as it is", (address, page) => {
  expect(reachableAddress(address, page)).toBe(address);
});
