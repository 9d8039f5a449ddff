import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { StreamEvent } from "@weir/contract";
import { expect, test } from "vitest";
import { Chance } from "../support/chance.ts";
import { checkOut, copyServer, hasCommit } from "../support/previous-version.ts";
import { SMALL_LADDER } from "../support/transcoding.ts";
import { Announcements } from "./announcements.ts";
import { Audience } from "./audience.ts";
import { Encoder, type Way } from "./encoder.ts";
import { FAULTS, NotMade } from "./faults.ts";
import { grown, type Holdings, holdingsOf } from "./holdings.ts";
import { LIVE_WITHIN_MS } from "./live-within.ts";
import { plant } from "./plants.ts";
import { found, keepFound, say } from "./run-found.ts";
import { FROM, KINDS, MEDIA_PROCESSES, MINUTES, ONLY, PLANT, ROOT, SEED } from "./run-options.ts";
import { assemble, type Cast } from "./scene.ts";
import { World } from "./world.ts";

const OWN_ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
/** Of its segments and parts, a viewer knows so many before an upgrade, and more behind it. */
const UPGRADED_AFTER_NAMES = 40;
/** Between the ends of two faults; 40 fit into ten minutes. */
const PAUSE_MS = 2_000;
/** How long a stream was not live while its encoder sent. */
const longestWaitMs: Record<Way, number> = { rtmp: 0, srt: 0, whip: 0, pull: 0 };
const BACK_WITHIN_MS = 60_000;
const SEEN_WITHIN_MS = 40_000;
const SETTLED_WITHIN_MS = 100_000;
/** Connections and idle children are given up within a minute. */
const BACK_AT_BASE_WITHIN_MS = 75_000;
/** The job that deletes objects without an owner. */
const SWEEP = "sweep-orphans";
/** A receiver that failed a few times is called again after 5 s, 10 s, 20 s and 40 s. */
const CALLED_WITHIN_MS = 100_000;
const LONGEST_MS = (2 * MINUTES + 15) * 60_000;
/** Events for each time that the log of their stream is announced, telemetry too: finds that nothing is announced, not that one in ten is lost. */
const MAX_EVENTS_A_TIME = 4;
/** Of an event, from its happening to its followers, a quarter of them: the server also looks by itself each second, so later than that is a fault. */
const PROMPT_MS = 1_000;

test(`a campaign of ${MINUTES} minutes, seed ${SEED}`, { timeout: LONGEST_MS }, async () => {
  await using closing = new AsyncDisposableStack();
  const root = await rootOf(closing);
  const old = FROM ? await checkOutFor(FROM, closing) : null;
  const world = closing.use(await World.open({ root: old ?? root, mediaProcesses: MEDIA_PROCESSES, minutes: MINUTES }));
  await keepFound(world, async () => {
    if (old) await upgrade(world, root);
    await campaign(world);
  });
});

/** The repository whose server is attacked: a copy, where a fault is planted. */
async function rootOf(closing: AsyncDisposableStack): Promise<string | undefined> {
  if (!PLANT) return ROOT;
  const copy = await copyServer();
  closing.defer(() => rm(copy, { recursive: true, force: true }));
  await plant(PLANT, copy);
  return copy;
}

async function checkOutFor(commit: string, closing: AsyncDisposableStack): Promise<string> {
  if (!hasCommit(commit)) throw new Error(`the history here has no commit ${commit}: fetch it, or leave --from out`);
  const root = await checkOut(commit, "own");
  closing.defer(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** Somebody broadcasts while the server is replaced by a newer one. */
async function upgrade(world: World, root = OWN_ROOT): Promise<void> {
  await using scene = new AsyncDisposableStack();
  const encoder = scene.use(await Encoder.start(world, { record: true, profiles: SMALL_LADDER }));
  const audience = scene.use(new Audience(world, encoder, null));
  const audiences = [audience];
  await untilTrue({ audiences }, Date.now());
  await expect.poll(() => audience.names, { timeout: SEEN_WITHIN_MS }).toBeGreaterThan(UPGRADED_AFTER_NAMES);
  expect(await world.weir.stop()).toBe(0);
  await world.weir.restart({ root });
  await untilTrue({ audiences }, Date.now());
  const before = audience.names;
  await expect.poll(() => audience.names, { timeout: SEEN_WITHIN_MS }).toBeGreaterThan(before + UPGRADED_AFTER_NAMES);
  await encoder.stop();
  await expect.poll(() => unsettled(world, audiences), { timeout: SETTLED_WITHIN_MS, interval: 500 }).toEqual([]);
  const { items } = await world.weir.client.sessions.ofStream(encoder.stream.id);
  // A server that is told to stop ends its sessions.
  expect(items.map(({ recordingStatus }) => recordingStatus)).toEqual(items.map(() => "ready"));
  expect([...audience.problems(), ...(await audience.missing(world.mayLack))]).toEqual([]);
  say(`upgraded from ${FROM}: ${audience.names} names, ${items.length} sessions`);
}

/** Everything at once, faults until the time is over, and a look at what was promised. */
async function campaign(world: World): Promise<void> {
  // The queue of jobs has begun its workers.
  await expect.poll(() => world.stored.hasDone(SWEEP), { timeout: SETTLED_WITHIN_MS, interval: 500 }).toBe(true);
  const holdings = await holdingsOf(world);
  await using scene = new AsyncDisposableStack();
  const announcements = scene.use(new Announcements(world.postgres.address));
  const cast = await assemble(world, scene, SEED);
  await untilTrue(cast, Date.now());
  await untilSeen(world, cast);
  await makeFaults(world, cast);
  await expectPromises(world, cast, announcements);
  // Whoever is connected is held something for.
  await scene.disposeAsync();
  await expectNothingLeft(world, holdings);
}

async function makeFaults(world: World, cast: Cast): Promise<void> {
  const until = Date.now() + MINUTES * 60_000;
  const encoders = cast.audiences.map(({ encoder }) => encoder);
  const kinds = KINDS ?? Object.keys(FAULTS);
  for (let nth = 1; Date.now() < until; nth++) {
    // Each fault has choices of its own, so that others can be left out.
    const chance = new Chance(SEED * 1_000 + nth);
    const name = chance.of(kinds);
    if (ONLY && nth > Math.max(...ONLY)) break;
    if (ONLY && !ONLY.includes(nth)) continue;
    const fault = FAULTS[name];
    if (!fault) throw new Error(`there is no fault ${name}: ${Object.keys(FAULTS).join(", ")}`);
    const what = await made(() => fault({ world, encoders, chance }), `${nth} ${name}`);
    say(`fault ${nth}: ${name} ${what ?? "not made"}`);
    if (what === null) continue;
    await world.mend();
    const mendedAt = Date.now();
    for (const audience of cast.audiences) audience.lookAgain();
    await untilTrue(cast, mendedAt);
    await untilSeen(world, cast);
    expect(servedWrongly(world, cast)).toEqual([]);
    say(`  all true and seen after ${Date.now() - mendedAt} ms`);
    await sleep(PAUSE_MS);
  }
  say(`${found.faults.length} faults, ${world.kills} of which took media; all ends`);
}

/** What a fault did; null where it could not be made. One that fails is among those that were made. */
async function made(make: () => Promise<string>, name: string): Promise<string | null> {
  try {
    const what = await make();
    found.faults.push(`${name} ${what}`);
    return what;
  } catch (error) {
    if (error instanceof NotMade) return null;
    found.faults.push(`${name} failed`);
    throw error;
  }
}

async function expectPromises(world: World, cast: Cast, announcements: Announcements): Promise<void> {
  const { audiences, customer, writer, uploader, clipper } = cast;
  const settled = { timeout: SETTLED_WITHIN_MS, interval: 1_000 };
  customer.calm();
  await clipper.clipInCalm(SETTLED_WITHIN_MS);
  await cast.whep[Symbol.asyncDispose]();
  for (const { encoder } of audiences) await encoder.stop();
  await expect.poll(() => statesOf(audiences), settled).toEqual(audiences.map(() => "idle"));
  await expect.poll(() => unsettled(world, audiences), settled).toEqual([]);
  for (const audience of audiences) {
    const log = await audience.log();
    const states = log.flatMap((event) => (event.type === "stream_state" ? [event.state.active] : []));
    expect(states, audience.encoder.stream.name).toEqual(states.map((_, index) => index % 2 === 0));
    await expect.poll(() => customer.problems(log), { timeout: CALLED_WITHIN_MS, interval: 1_000 }).toEqual([]);
    expect(repeated(log), audience.encoder.stream.name).toEqual([]);
    if (audience.encoder.stream.record) expect(await audience.missing(world.mayLack)).toEqual([]);
    expect(audience.names, audience.encoder.stream.name).toBeGreaterThan(0);
  }
  expect(servedWrongly(world, cast)).toEqual([]);
  expect(await writer.lost()).toEqual([]);
  expect(await uploader.lost(SETTLED_WITHIN_MS)).toEqual([]);
  expect(await clipper.lost(SETTLED_WITHIN_MS)).toEqual([]);
  const delays = audiences.flatMap((audience) => audience.delays).toSorted((a, b) => a - b);
  const announced = audiences.reduce((sum, { encoder }) => sum + announcements.timesOf(encoder.stream.id), 0);
  const events = audiences.reduce((sum, { events }) => sum + events, 0);
  tell(world, cast, { delays, announced, events });
  expect(announced).toBeGreaterThan(events / MAX_EVENTS_A_TIME);
  expect(delays[delays.length >> 2]).toBeLessThan(PROMPT_MS);
}

/** What the server holds is what it held before, and the bucket has what the database says. */
async function expectNothingLeft(world: World, holdings: Holdings): Promise<void> {
  const back = { timeout: BACK_AT_BASE_WITHIN_MS, interval: 2_000 };
  let now = holdings;
  const more = async () => {
    now = await holdingsOf(world);
    return grown(holdings, now, MEDIA_PROCESSES);
  };
  await expect.poll(more, back).toEqual([]);
  say(`held before: ${JSON.stringify(holdings)}; now: ${JSON.stringify(now)}`);
  await sweep(world);
  expect(await world.stored.mismatches()).toEqual([]);
}

/** Events that are in a log twice, under two ids. */
function repeated(log: readonly StreamEvent[]): string[] {
  const seen = new Set<string>();
  return log.flatMap(({ id, ...event }) => {
    const text = JSON.stringify(event);
    if (seen.has(text)) return [`${id}: ${text.slice(0, 200)}`];
    seen.add(text);
    return [];
  });
}

/** Has the server find what belongs to nothing, and then delete it. */
async function sweep(world: World): Promise<void> {
  const { stored } = world;
  await expect.poll(() => stored.hasDone(SWEEP), { timeout: SETTLED_WITHIN_MS, interval: 500 }).toBe(true);
  await stored.runJob(SWEEP, SETTLED_WITHIN_MS);
  // It waits a day before it deletes.
  await stored.rows("update orphan set seen_at = 0");
  await stored.runJob(SWEEP, SETTLED_WITHIN_MS);
}

interface Told {
  readonly delays: readonly number[];
  readonly announced: number;
  readonly events: number;
}

function tell(world: World, cast: Cast, { delays, announced, events }: Told): void {
  const { audiences, intruder, writer, uploader, clipper, onlooker, whep } = cast;
  found.figures = {
    names: audiences.reduce((sum, one) => sum + one.names, 0),
    writes: writer.writes,
    uploads: uploader.count,
    clips: clipper.count,
    thumbnails: onlooker.pictures,
    refusals: intruder.requests,
    whepBytes: whep.bytes,
    targetPackets: world.target.packets,
    events,
    announced,
    quarterWithinMs: delays[delays.length >> 2] ?? 0,
    ...Object.fromEntries(Object.entries(longestWaitMs).map(([way, ms]) => [`${way}LiveAfterMs`, ms])),
  };
  say(`seed ${SEED}: ${JSON.stringify(found.figures)}`);
}

function servedWrongly(world: World, { audiences, intruder, onlooker }: Cast): string[] {
  const seen = audiences.flatMap((audience) => audience.problems());
  return [...seen, ...intruder.served, ...onlooker.problems, ...world.target.problems];
}

const statesOf = (audiences: readonly Audience[]): Promise<string[]> =>
  Promise.all(audiences.map((audience) => audience.state().catch(() => "unknown")));

/** Resolves when every stream whose encoder sends is live. Throws where one sends for longer than it may take, and is not. */
async function untilTrue({ audiences }: Pick<Cast, "audiences">, mendedAt: number): Promise<void> {
  for (;;) {
    const states = await statesOf(audiences);
    const wrong = audiences.filter((_, n) => states[n] !== "live");
    if (wrong.length === 0) return;
    for (const { encoder } of wrong) {
      const state = states[audiences.findIndex((one) => one.encoder === encoder)];
      const since = Math.max(encoder.sendingSince ?? Number.POSITIVE_INFINITY, mendedAt);
      const within = LIVE_WITHIN_MS[encoder.way];
      const waited = Date.now() - since;
      longestWaitMs[encoder.way] = Math.max(longestWaitMs[encoder.way], waited);
      if (waited > within)
        throw new Error(
          `${encoder.stream.name} is ${state} ${within} ms after the fault, and its encoder sends: ${toldOf(audiences, states)}`,
        );
      if (Date.now() - mendedAt > BACK_WITHIN_MS)
        throw new Error(`${encoder.stream.name} is ${state}, and its encoder was not let in for ${BACK_WITHIN_MS} ms`);
    }
    await sleep(200);
  }
}

/** The state of every stream, and for how long its encoder has been sending. */
const toldOf = (audiences: readonly Audience[], states: readonly string[]): string =>
  audiences
    .map(({ encoder: { way, stream, sendingSince } }, n) => {
      const sending = sendingSince === null ? "not sending" : `sending for ${Date.now() - sendingSince} ms`;
      return `${way} ${stream.id} ${states[n]}, ${sending}`;
    })
    .join("; ");

/** Resolves when viewers over WebRTC and the target get media. */
async function untilSeen({ target }: World, { whep }: Cast): Promise<void> {
  const before = { whep: whep.bytes, target: target.packets };
  const missing = () => [
    ...(whep.bytes > before.whep ? [] : ["viewers over WebRTC get nothing"]),
    ...(target.packets > before.target ? [] : ["the target gets nothing"]),
  ];
  await expect.poll(missing, { timeout: SEEN_WITHIN_MS, interval: 200 }).toEqual([]);
}

/** Recordings that are still to be completed. */
async function unsettled(world: World, audiences: readonly Audience[]): Promise<string[]> {
  const waiting: string[] = [];
  for (const { stream } of audiences.map(({ encoder }) => encoder).filter((one) => one.stream.record)) {
    for (const { id, recordingStatus } of (await world.weir.client.sessions.ofStream(stream.id)).items)
      if (recordingStatus === "waiting") waiting.push(`session ${id} is ${recordingStatus}`);
  }
  return waiting;
}
