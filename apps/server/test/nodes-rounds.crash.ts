import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Chance } from "./support/chance.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";
import type { Publisher } from "./support/publisher.ts";

/** Longer than any fault of a round, so that a session goes on through all of them and a name means one thing for all. */
const WINDOW_MS = 90_000;
const STREAMS = 5;
const ROUNDS = Number(process.env.ROUNDS ?? 30);
const SEED = Number(process.env.SEED ?? 27);

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(["a", "b"], { WEIR_RECONNECT_WINDOW_MS: String(WINDOW_MS) });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

const chance = new Chance(SEED);

/** An encoder that tries until it is let in, as a person's does. */
async function publishSomewhere(staged: StagedStream): Promise<{ publisher: Publisher; node: string }> {
  for (let tries = 0; ; tries++) {
    const node = chance.of(["a", "b"]);
    const publisher = await staged.publishAt(node).catch((error: unknown) => {
      if (tries > 60) throw error;
      return null;
    });
    if (publisher) return { publisher, node };
    await sleep(500);
  }
}

/** What can go wrong in a round; each ends with all processes and lines in order. */
const faults: Record<string, (staged: StagedStream, owner: string) => Promise<void>> = {
  kill: async (_staged, owner) => {
    const { weir } = nodes.node(chance.of(["a", "b", owner]));
    await weir.kill();
    await sleep(chance.ms(0, 2_000));
    await weir.restart();
  },
  cut: (_staged, owner) => disturb(owner, "cut"),
  silence: (_staged, owner) => disturb(owner, "silent"),
  slowness: (_staged, owner) => disturb(owner, "slow"),
  deafness: async (_staged, owner) => {
    const { line } = nodes.node(owner);
    line.isDeaf = true;
    await sleep(chance.ms(1_000, 6_000));
    line.isDeaf = false;
  },
  key: (staged, owner) => staged.connectWithoutMedia(owner === "a" ? "b" : "a", 1_000).catch(() => {}),
  nothing: () => sleep(chance.ms(0, 2_000)),
};

async function disturb(owner: string, fault: "cut" | "silent" | "slow"): Promise<void> {
  const { line } = nodes.node(chance.of(["a", "b", owner]));
  line.fault = fault;
  await sleep(chance.ms(1_000, 14_000));
  line.fault = "open";
}

test(`${ROUNDS} rounds of random kills, cuts and moves: no name with two contents, every state once`, async () => {
  const told: string[] = [];
  let names = 0;
  for (let stream = 0, round = 0; stream < STREAMS && round < ROUNDS; stream++) {
    await using staged = await StagedStream.create(nodes);
    let { publisher, node } = await publishSomewhere(staged);
    const { status } = await staged.untilState("live", 30_000);
    for (const until = Math.ceil(((stream + 1) * ROUNDS) / STREAMS); round < until; round++) {
      const what = chance.of(Object.keys(faults));
      const moves = chance.next() < 0.6;
      const before = node;
      const failing = faults[what]?.(staged, node);
      await sleep(chance.ms(0, 4_000));
      // A second encoder takes over, or the same one comes back somewhere.
      if (moves && chance.next() < 0.5) await publisher.kill();
      if (moves) ({ publisher, node } = await publishSomewhere(staged));
      await failing;
      const isGone = await Promise.race([publisher.ended.then(() => true), sleep(1_000).then(() => false)]);
      if (isGone) ({ publisher, node } = await publishSomewhere(staged));
      await staged.untilState("live", 30_000);
      const last = await staged.newest();
      told.push(`${round}: ${what} of a stream at ${before}${moves ? `, to ${node}` : ""}; last number ${last}`);
      await staged.untilListed(node, 0, 30_000);
      expect((await staged.now()).status.sessionId, told.join("\n")).toBe(status.sessionId);
      expect(staged.seen.clashes, told.join("\n")).toEqual([]);
    }
    await publisher.stop();
    await staged.untilState("idle", 30_000);
    const session = await staged.recorded(90_000);
    expect(session.id).toBe(status.sessionId);
    expect(
      ["a", "b"].flatMap((each) => staged.seen.fallsAt(each)),
      told.join("\n"),
    ).toEqual([]);
    expect(staged.seen.clashes, told.join("\n")).toEqual([]);
    expect(await staged.states(), told.join("\n")).toEqual([true, false]);
    const rows = await nodes.query<{ late: string }>(`
      select count(*) as late from recording_segment r join session_epoch o on o.session_id = r.session_id and o.epoch = r.epoch
      join session_epoch e on e.session_id = r.session_id and e.epoch > r.epoch and e.node_id <> o.node_id
      where r.session_id = '${session.id}' and (r.msn >= e.first_msn or r.program_date_time >= e.began_at + 2000)`);
    expect(Number(rows[0]?.late), told.join("\n")).toBe(0);
    names += staged.seen.names;
  }
  figure("rounds", told.length);
  figure("names", names);
}, 1_500_000);
