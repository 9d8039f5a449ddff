import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeNextBuild, type NextBuild } from "./support/next-build.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";

const STREAMS = 10;
const PROCESSES = ["worker", "api", "a", "b"] as const;

let nodes: Nodes;
let next: NextBuild;
beforeAll(async () => {
  next = await makeNextBuild();
  nodes = await Nodes.open(["a", "b"], { WEIR_CLUSTER_ADDRESS: "127.0.0.1:0" });
});
afterAll(async () => {
  await nodes?.[Symbol.asyncDispose]();
  if (next) await rm(next.root, { recursive: true });
});

/** Names of the processes that say they are ready for something, as a balancer asks. */
async function ready(names: readonly string[], purpose: "api" | "publish"): Promise<string[]> {
  const answers = names.map(async (name) => {
    const answer = await fetch(`${nodes.node(name).weir.url}/readyz/${purpose}`).catch(() => null);
    return answer?.ok ? name : null;
  });
  return (await Promise.all(answers)).filter((name) => name !== null);
}

/** An encoder that comes back wherever a process takes it, until it is stopped. */
function keepPublishing(staged: StagedStream, media: ReadonlySet<string>, index: number) {
  let isStopped = false;
  let moves = -1;
  let current: Awaited<ReturnType<StagedStream["publishAt"]>> | null = null;
  const run = async () => {
    while (!isStopped) {
      const open = await ready([...media], "publish");
      const node = open[index % Math.max(1, open.length)];
      current = node ? await staged.publishAt(node).catch(() => null) : null;
      if (current) moves++;
      await (current?.ended ?? sleep(300));
    }
  };
  const running = run();
  return {
    get moves() {
      return moves;
    },
    async stop() {
      isStopped = true;
      await current?.stop();
      await running;
    },
  };
}

test("a rolling replacement of all processes by the next build: ten streams go on in their sessions, no API request fails, and what older builds use is taken away last", async () => {
  await using opened = new AsyncDisposableStack();
  const media = new Set<string>(["a", "b"]);
  const apis = new Set<string>(["api"]);
  const streams: StagedStream[] = [];
  for (let index = 0; index < STREAMS; index++)
    streams.push(opened.use(await StagedStream.create(nodes, { watchedAt: [], record: index === 0 })));
  const encoders = streams.map((staged, index) => keepPublishing(staged, media, index));
  const statusOf = async ({ stream }: StagedStream) => {
    const [api = "api"] = await ready([...apis].toReversed(), "api");
    return (await nodes.node(api).weir.client.streams.get(stream.id)).status;
  };
  for (const staged of streams)
    await expect.poll(async () => (await statusOf(staged)).state, { timeout: 30_000 }).toBe("live");
  const sessions = await Promise.all(streams.map(async (staged) => (await statusOf(staged)).sessionId));

  const asked = { count: 0, failures: [] as string[], isOver: false };
  const asking = (async () => {
    for (let index = 0; !asked.isOver; index++) {
      await statusOf(streams[index % STREAMS] as StagedStream).catch((error: unknown) =>
        asked.failures.push(String(error)),
      );
      asked.count++;
      await sleep(50);
    }
  })();
  const applied = async () =>
    (await nodes.query<{ name: string }>("select name from migration order by number")).map(({ name }) => name);
  for (const name of PROCESSES) {
    const isMedia = media.has(name);
    const env = { WEIR_ROLES: isMedia ? "media" : name };
    await nodes.start(`${name}2`, { env, root: next.root });
    if (isMedia) media.add(`${name}2`);
    if (name === "api") apis.add("api2");
    // The other build runs beside.
    expect(await applied()).toContain(next.migrations.expand);
    expect(await applied()).not.toContain(next.migrations.contract);
    await sleep(1_000);
    const { weir } = nodes.node(name);
    expect(await weir.stop()).toBe(0);
    media.delete(name);
    apis.delete(name);
  }
  await expect.poll(applied, { timeout: 15_000 }).toContain(next.migrations.contract);
  for (const staged of streams)
    await expect.poll(async () => (await statusOf(staged)).state, { timeout: 30_000 }).toBe("live");
  await sleep(3_000);
  asked.isOver = true;
  await asking;
  expect(asked.failures).toEqual([]);
  figure("API requests while all processes were replaced", asked.count);
  figure(
    "reconnects of the ten encoders",
    encoders.reduce((sum, { moves }) => sum + moves, 0),
  );
  expect(await Promise.all(streams.map(async (staged) => (await statusOf(staged)).sessionId))).toEqual(sessions);
  const { client } = nodes.node("api2").weir;
  for (const { stream } of streams) expect((await client.sessions.ofStream(stream.id)).items).toHaveLength(1);
  const { nodes: shown } = await client.dashboard.settings();
  expect(shown.filter(({ state }) => state === "serving").map(({ version }) => version)).toEqual(
    PROCESSES.map(() => next.version),
  );
  await Promise.all(encoders.map((encoder) => encoder.stop()));
});
