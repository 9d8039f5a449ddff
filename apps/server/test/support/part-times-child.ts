import { Agent } from "node:http";
import { fetchBytes, newestPart } from "../../src/roles/capacity/hls-reader.ts";
import type { SeenPart } from "./part-lag.ts";

/** Follows the playlists at the given URLs by blocking requests, and tells its parent when each of them first lists a part. It reads nothing else. */

const UNTIL_RETRY_MS = 100;

async function follow(url: string, playlist: number): Promise<never> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let query = "";
  for (;;) {
    try {
      const { body, at } = await fetchBytes(url + query, agent);
      const { uri, msn, nextPart } = newestPart(body.toString("latin1"));
      // Parts of the first answer were there before.
      if (query !== "") process.send?.({ playlist, uri, at } satisfies SeenPart);
      query = `?_HLS_msn=${msn}&_HLS_part=${nextPart}`;
    } catch {
      query = "";
      await new Promise((resolve) => setTimeout(resolve, UNTIL_RETRY_MS));
    }
  }
}

process.on("disconnect", () => process.exit(0));
for (const [playlist, url] of process.argv.slice(2).entries()) void follow(url, playlist);
