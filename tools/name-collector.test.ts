import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { NameCollector } from "../apps/server/test/support/name-collector.ts";

const LISTS: Readonly<Record<string, string>> = {
  "/hls/one/index.m3u8": "#EXTM3U\ns/-/session/source/index.m3u8\n",
  "/hls/one/s/-/session/source/index.m3u8": "#EXTM3U\n#EXTINF:2,\n1.m4s\n",
};

test("a segment with another content after a fault is a clash, at a single server as well", async () => {
  let [content, requests] = ["before", 0];
  const server = createServer(({ url = "" }, response) => {
    if (url.endsWith(".m4s")) requests++;
    response.end(LISTS[url] ?? content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const names = new NameCollector([{ node: "server", hlsUrl: `http://127.0.0.1:${port}/hls/one/index.m3u8` }]);
  const seenTimes = async (times: number) => {
    if (times > 1) names.lookAgain();
    await expect.poll(() => requests).toBe(times);
    // The next list is read when this one's files have been.
    const { length } = names.lists;
    await expect.poll(() => names.lists.length).toBeGreaterThan(length);
  };
  try {
    await seenTimes(1);
    await seenTimes(2);
    expect(names.clashes).toEqual([]);
    content = "after";
    await seenTimes(3);
    expect(names.clashes).toHaveLength(1);
    await seenTimes(4);
    expect(names.clashes).toHaveLength(1);
  } finally {
    await names.stop();
    server.close();
  }
});
