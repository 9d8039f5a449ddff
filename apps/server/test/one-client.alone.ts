/** Limits per client: never at the expense of others, always enough for a thousand viewers behind one address. */
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";

const arena = openArena();
const ATTACKER = "127.0.0.66";
const SCHOOL = "127.0.0.77";
const VIEWERS = 1_000;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

function ask(url: string, agent: Agent): Promise<Answer> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - startedAt }));
    }).on("error", reject);
  });
}

/** A client with this many connections from its own address. */
function clientAt(localAddress: string, maxSockets = 1): Agent {
  const agent = new Agent({ keepAlive: true, localAddress, maxSockets });
  onTestFinished(() => agent.destroy());
  return agent;
}

/** The newest segment in a playlist, complete or not. */
const newestOf = (playlist: string): number =>
  Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(playlist)?.[1]) + (playlist.match(/^\d+\.m4s/gm)?.length ?? 0);

test("2,000 blocking requests on one connection do not delay another client's", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  const viewer = clientAt("127.0.0.1");
  const { text: multivariant } = await ask(broadcast.hlsUrl, viewer);
  const [rendition = ""] = /^s\/.*\/source\/index\.m3u8/m.exec(multivariant) ?? [];
  const url = new URL(rendition, broadcast.hlsUrl);
  const floods: Promise<unknown>[] = [];
  const flood = (msn: number) => {
    const socket = connect({ host: "127.0.0.1", port: Number(url.port), localAddress: ATTACKER });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}).resume();
    floods.push(new Promise<void>((resolve) => socket.once("close", () => resolve())));
    socket.write(`GET ${url.pathname}?_HLS_msn=${msn} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(2_000));
  };
  for (let round = 0; round < 3; round++) {
    const newest = newestOf((await ask(url.href, viewer)).text);
    flood(newest + 1);
    const blocked = await ask(`${url}?_HLS_msn=${newest + 1}`, viewer);
    expect([blocked.status, newestOf(blocked.text)]).toEqual([200, newest + 2]);
    expect(blocked.ms).toBeGreaterThan(300);
  }
  // A connection with too many pipelined requests is closed.
  await Promise.all(floods);
});

test("a thousand viewers behind one address are all admitted, wait for the next segment, and are counted", async () => {
  await using broadcast = await startBroadcast(arena.weir, { seconds: 120 });
  const agent = clientAt(SCHOOL, VIEWERS);
  const url = new URL(
    /^s\/.*\/source\/index\.m3u8/m.exec((await ask(`${broadcast.hlsUrl}?tkn=v-0`, agent)).text)?.[0] ?? "",
    broadcast.hlsUrl,
  );
  const isWatching = { until: performance.now() + 60_000 };
  const refused: number[] = [];
  const watch = async (viewer: number): Promise<void> => {
    const tkn = `tkn=v-${viewer}`;
    const joined = await ask(`${broadcast.hlsUrl}?${tkn}`, agent);
    if (joined.status !== 200) refused.push(joined.status);
    while (performance.now() < isWatching.until) {
      const { text } = await ask(`${url.origin}${url.pathname}?${tkn}`, agent);
      const next = await ask(`${url.origin}${url.pathname}?_HLS_msn=${newestOf(text) + 1}&${tkn}`, agent);
      if (next.status !== 200) refused.push(next.status);
    }
  };
  const watching = Array.from({ length: VIEWERS }, (_, viewer) => watch(viewer));
  const now = async () =>
    (await arena.weir.client.views.now({ playbackId: broadcast.stream.playbackId }))[0]?.viewCount;
  await expect.poll(now, { timeout: 50_000, interval: 500 }).toBe(VIEWERS);
  isWatching.until = 0;
  await Promise.all(watching);
  expect(refused).toEqual([]);
});
