import { setTimeout as sleep } from "node:timers/promises";
import type { NewStream } from "@weir/contract";
import { expect, test } from "vitest";
import { Chance } from "../support/chance.ts";
import { TokenSigner } from "../support/gated-broadcast.ts";
import { SMALL_LADDER } from "../support/transcoding.ts";
import { Audience, Customer } from "./audience.ts";
import { Encoder } from "./encoder.ts";
import { FAULTS } from "./faults.ts";
import { grown, type Holdings, holdingsOf } from "./holdings.ts";
import { Intruder } from "./intruder.ts";
import { Uploader } from "./uploader.ts";
import { World } from "./world.ts";
import { Writer } from "./writer.ts";

const SEED = Number(process.env.CAMPAIGN_SEED ?? 1);
const MINUTES = Number(process.env.CAMPAIGN_MINUTES ?? 10);
/** The numbers of the faults that are made; all others are left out. */
const ONLY = process.env.CAMPAIGN_ONLY?.split(",").map(Number);
/** The repository whose server is attacked. */
const ROOT = process.env.CAMPAIGN_ROOT;
/** Between the ends of two faults; 40 fit into ten minutes. */
const PAUSE_MS = 3_000;
/** After the last fault, and an encoder needs up to three seconds to come back. */
const TRUE_WITHIN_MS = 13_000;
const SETTLED_WITHIN_MS = 180_000;
const LONGEST_MS = (2 * MINUTES + 15) * 60_000;

const STREAMS: readonly Omit<NewStream, "name">[] = [
  { record: true },
  { record: true, profiles: SMALL_LADDER },
  { record: true, dvr: "session", slate: "last-picture" },
  { playbackPolicy: { type: "jwt" } },
];

const said: string[] = [];
function say(line: string): void {
  said.push(line);
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}

test(`a campaign of ${MINUTES} minutes, seed ${SEED}`, { timeout: LONGEST_MS }, async () => {
  await using world = await World.open(ROOT);
  try {
    await campaign(world);
  } catch (error) {
    process.stderr.write(`the server's last lines:\n${world.lastWords}\n`);
    throw error;
  }
});

/** Those whose promises are looked at. */
interface Cast {
  readonly audiences: readonly Audience[];
  readonly customer: Customer;
  readonly intruder: Intruder;
  readonly writer: Writer;
  readonly uploader: Uploader;
}

/** Everything at once, faults until the time is over, and a look at what was promised. */
async function campaign(world: World): Promise<void> {
  const holdings = holdingsOf(world);
  await using scene = new AsyncDisposableStack();
  const signer = await TokenSigner.create(world.weir);
  const audiences = await Promise.all(
    STREAMS.map(async (stream) => {
      const encoder = scene.use(await Encoder.start(world, stream));
      const token = stream.playbackPolicy ? await signer.sign(encoder.stream.playbackId, "12h") : null;
      return scene.use(new Audience(world, encoder, token));
    }),
  );
  const gated = audiences.find(({ encoder }) => encoder.stream.playbackPolicy?.type === "jwt");
  if (!gated) throw new Error("there is no gated stream");
  const cast: Cast = {
    audiences,
    customer: scene.use(await Customer.start(world, new Chance(SEED))),
    intruder: scene.use(new Intruder(world, gated.encoder.stream)),
    writer: scene.use(new Writer(world)),
    uploader: scene.use(new Uploader(world)),
  };
  await untilTrue(audiences, 60_000);
  await makeFaults(world, cast);
  await expectPromises(world, cast, holdings);
}

async function makeFaults(world: World, cast: Cast): Promise<void> {
  const until = Date.now() + MINUTES * 60_000;
  const encoders = cast.audiences.map(({ encoder }) => encoder);
  let count = 0;
  for (let nth = 1; Date.now() < until; nth++) {
    // Each fault has choices of its own, so that others can be left out.
    const chance = new Chance(SEED * 1_000 + nth);
    const name = chance.of(Object.keys(FAULTS));
    if (ONLY && nth > Math.max(...ONLY)) break;
    if (ONLY && !ONLY.includes(nth)) continue;
    const what = await FAULTS[name]?.({ world, encoders, chance });
    say(`fault ${nth}: ${name} ${what}`);
    count++;
    await world.mend();
    await untilTrue(cast.audiences, TRUE_WITHIN_MS);
    expect(servedWrongly(cast)).toEqual([]);
    await sleep(PAUSE_MS);
  }
  say(`${count} faults, ${world.kills} kills of the server; all ends`);
}

async function expectPromises(world: World, cast: Cast, holdings: Holdings): Promise<void> {
  const { audiences, customer, intruder, writer, uploader } = cast;
  const settled = { timeout: SETTLED_WITHIN_MS, interval: 1_000 };
  customer.calm();
  for (const { encoder } of audiences) await encoder.stop();
  await expect.poll(() => statesOf(audiences), settled).toEqual(audiences.map(() => "idle"));
  await expect.poll(() => unsettled(world, audiences), settled).toEqual([]);
  for (const audience of audiences) {
    const log = await audience.log();
    const states = log.flatMap((event) => (event.type === "stream_state" ? [event.state.active] : []));
    expect(states).toEqual(states.map((_, index) => index % 2 === 0));
    await expect.poll(() => customer.problems(log), settled).toEqual([]);
    if (audience.encoder.stream.record) expect(await audience.missing(world.kills + 1)).toEqual([]);
    expect(audience.names).toBeGreaterThan(0);
  }
  expect(servedWrongly(cast)).toEqual([]);
  expect(await writer.lost()).toEqual([]);
  expect(await uploader.lost(SETTLED_WITHIN_MS)).toEqual([]);
  await expect.poll(() => grown(holdings, holdingsOf(world)), settled).toEqual([]);
  const names = audiences.reduce((sum, one) => sum + one.names, 0);
  say(
    `seed ${SEED}: ${names} names, ${writer.writes} writes, ${uploader.count} uploads, ${intruder.requests} refusals`,
  );
}

function servedWrongly({ audiences, intruder }: Cast): string[] {
  return [...audiences.flatMap((audience) => audience.problems()), ...intruder.served];
}

const statesOf = (audiences: readonly Audience[]): Promise<string[]> =>
  Promise.all(audiences.map((audience) => audience.state().catch(() => "unknown")));

/** Resolves when every stream whose encoder sends is live. */
async function untilTrue(audiences: readonly Audience[], withinMs: number): Promise<void> {
  await expect
    .poll(() => statesOf(audiences), { timeout: withinMs, interval: 200, message: said.slice(-3).join("\n") })
    .toEqual(audiences.map(() => "live"));
}

/** Recordings that are still to be completed. */
async function unsettled(world: World, audiences: readonly Audience[]): Promise<string[]> {
  const found: string[] = [];
  for (const { stream } of audiences.map(({ encoder }) => encoder).filter((one) => one.stream.record)) {
    for (const { id, recordingStatus } of (await world.weir.client.sessions.ofStream(stream.id)).items)
      if (recordingStatus === "waiting") found.push(`session ${id} is ${recordingStatus}`);
  }
  return found;
}
