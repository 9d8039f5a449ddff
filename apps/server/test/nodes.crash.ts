import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Chance } from "./support/chance.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";
import type { Publisher } from "./support/publisher.ts";

const NODES = ["a", "b", "c"] as const;
const STREAMS = 5;
const ROUNDS = Number(process.env.ROUNDS ?? 30);
const chance = new Chance(Number(process.env.SEED ?? 30));

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(NODES, { WEIR_CLUSTER_ADDRESS: "127.0.0.1:0", WEIR_RECONNECT_WINDOW_MS: "60000" });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

/** An encoder that tries other nodes until one lets it in. */
async function publishBeside(staged: StagedStream, dead: string | null): Promise<{ publisher: Publisher; at: string }> {
  const until = Date.now() + 30_000;
  for (;;) {
    const at = chance.of(NODES.filter((node) => node !== dead));
    try {
      return { publisher: await staged.publishAt(at), at };
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(500);
    }
  }
}

/** One node dies at a random moment, mostly the owner, and comes back while the encoder goes on elsewhere, or before it does. */
async function round(staged: StagedStream, current: { publisher: Publisher; at: string }): Promise<typeof current> {
  await sleep(chance.ms(500, 6_000));
  const killed = chance.next() < 0.8 ? current.at : chance.of(NODES);
  const { weir } = nodes.node(killed);
  await weir.kill();
  await sleep(chance.ms(0, 1_500));
  const restarted = weir.restart();
  const isAway = killed === current.at;
  // An encoder of a living node moves sometimes, too.
  if (!isAway && chance.next() < 0.5) await current.publisher.kill();
  else if (!isAway) {
    await restarted;
    return current;
  }
  const next = await publishBeside(staged, chance.next() < 0.5 ? killed : null);
  await restarted;
  return next;
}

test(`${ROUNDS} kills of nodes at random moments: no name with two contents, every state once, one session and recording`, async () => {
  let [done, names] = [0, 0];
  for (let stream = 0; stream < STREAMS && done < ROUNDS; stream++) {
    await using staged = await StagedStream.create(nodes, { watchedAt: NODES });
    let current = await publishBeside(staged, null);
    const { status } = await staged.untilState("live", 30_000);
    const told: string[] = [];
    for (const until = Math.ceil(((stream + 1) * ROUNDS) / STREAMS); done < until; done++) {
      const { at } = current;
      current = await round(staged, current);
      told.push(`${done}: from ${at} to ${current.at}`);
      const newest = await staged.newest();
      await staged.untilListed(current.at, newest, 30_000);
      expect((await staged.now()).status.sessionId, told.join("\n")).toBe(status.sessionId);
      expect(staged.seen.clashes, told.join("\n")).toEqual([]);
    }
    await current.publisher.stop();
    await staged.untilState("idle", 70_000);
    const session = await staged.recorded(90_000);
    expect(session.id).toBe(status.sessionId);
    expect(await staged.states(), told.join("\n")).toEqual([true, false]);
    expect(staged.seen.clashes, told.join("\n")).toEqual([]);
    expect(await staged.secondsOf(session, "a")).toBeCloseTo(session.sourceSegmentsDuration, 0);
    names += staged.seen.names;
  }
  figure("rounds and names", `${done}, ${names}`);
}, 1_500_000);
