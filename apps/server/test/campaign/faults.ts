import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Chance } from "../support/chance.ts";
import { commandOf, familyOf } from "../support/process-family.ts";
import type { Encoder } from "./encoder.ts";
import type { World } from "./world.ts";

/** There is nothing here that this fault could be made to. */
export class NotMade extends Error {}

const NO_DISK = "this machine cannot mount a disk";
const SILENT_VIEWERS = 40;
/** Certificates are read every ten seconds. */
const RENEWED_WITHIN_MS = 20_000;
/** What was not synced when a disk failed, and what is open until it is used again. */
const DISK_SEGMENTS = 3;
const SEGMENT_MS = 2_000;
const MEDIA_PROCESS = "media-process-child";
const segmentsIn = (ms: number): number => Math.ceil(ms / SEGMENT_MS);

/** What an operator may change between two starts. */
const SETTINGS: readonly Readonly<Record<string, string>>[] = [
  { WEIR_S3_REDIRECTS: "1" },
  { WEIR_S3_REDIRECTS: "0" },
  { WEIR_LOG_LEVEL: "debug" },
  { WEIR_LOG_LEVEL: "info" },
  { WEIR_KEEP_ORIGINALS: "0" },
  { WEIR_DVR_MAX_HOURS: "1" },
  { WEIR_TRANSCODE_PRESET: "ultrafast" },
  { WEIR_RECORDING_DAYS: "30" },
];

export interface FaultScene {
  readonly world: World;
  readonly encoders: readonly Encoder[];
  readonly chance: Chance;
}

/** Resolves when the fault is over. What it did is told to people. Throws `NotMade`. */
export type Fault = (scene: FaultScene) => Promise<string>;

/** What goes wrong, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  "server killed": async ({ world, chance }) => {
    await world.weir.kill();
    world.loses(1);
    const away = chance.ms(0, 2_000);
    await sleep(away);
    await world.weir.restart();
    return `back after ${away} ms`;
  },
  "server restarted": async ({ world }) => {
    const code = await world.weir.stop();
    if (code !== 0) throw new Error(`the server ended with ${code} on SIGTERM`);
    await world.weir.restart();
    return "SIGTERM";
  },
  "server stopped": async ({ world, chance }) => stopped(world.weir.pid, chance.ms(500, 6_000)),
  "child killed": async ({ world, chance }) => {
    const child = childOf(world, chance);
    send(child.pid, "SIGKILL");
    // It has the open segments of its streams.
    if (child.kind === MEDIA_PROCESS) world.loses(1);
    return child.kind;
  },
  "child stopped": async ({ world, chance }) => {
    const child = childOf(world, chance);
    return `${child.kind} for ${await stopped(child.pid, chance.ms(500, 5_000))}`;
  },
  "database stopped": async ({ world, chance }) => {
    await world.postgres.stop();
    const away = chance.ms(1_000, 12_000);
    await sleep(away);
    await world.postgres.start();
    return `for ${away} ms`;
  },
  "database cut": (scene) => disturbed(scene, "cut"),
  "database silent": (scene) => disturbed(scene, "silent"),
  "database slow": (scene) => disturbed(scene, "slow"),
  "LISTEN deaf": async ({ world, chance }) => {
    world.line.isDeaf = true;
    const ms = chance.ms(1_000, 8_000);
    await sleep(ms);
    world.line.isDeaf = false;
    return `for ${ms} ms`;
  },
  "store refusing": (scene) => stored(scene, "refusing"),
  "store slow": (scene) => stored(scene, "slow"),
  "store full": (scene) => stored(scene, "full"),
  "store forgetful": (scene) => stored(scene, "forgetful"),
  "store torn": (scene) => stored(scene, "torn"),
  "encoder cut": async ({ encoders, chance }) => {
    const encoder = chance.of(encoders);
    await encoder.cut();
    return `over ${encoder.way}`;
  },
  "encoder silent": async ({ encoders, chance }) => {
    const encoder = chance.of(encoders);
    const ms = chance.ms(1_000, 9_000);
    await encoder.silence(ms);
    return `over ${encoder.way} for ${ms} ms`;
  },
  "viewers silent": async ({ world, encoders, chance }) => {
    const ms = chance.ms(1_000, 6_000);
    const { playbackId } = chance.of(encoders).stream;
    const viewers = Array.from({ length: SILENT_VIEWERS }, () => askAndNeverRead(world, playbackId));
    await sleep(ms);
    for (const viewer of viewers) viewer.destroy();
    return `${SILENT_VIEWERS} for ${ms} ms, then cut`;
  },
  "target away": async ({ world, chance }) => {
    await world.target.leave();
    const ms = chance.ms(1_000, 8_000);
    await sleep(ms);
    await world.target.comeBack();
    return `for ${ms} ms`;
  },
  "clock stepped": async ({ world, chance }) => {
    if (!world.canStepClock) throw new NotMade("there is no libfaketime");
    const seconds = chance.ms(-40, 40);
    await world.stepClock(seconds);
    const ms = chance.ms(3_000, 8_000);
    await sleep(ms);
    await world.stepClock(0);
    // The library looks once a second.
    await sleep(1_500);
    return `by ${seconds} s for ${ms} ms, and back`;
  },
  "certificate renewed": async ({ world, chance }) => {
    const isRenewed = chance.next() < 0.5;
    await world.renewCertificate(isRenewed);
    await expect
      .poll(() => world.shownCertificate(), { timeout: RENEWED_WITHIN_MS, interval: 500 })
      .toBe(world.certificate(isRenewed));
    return isRenewed ? "to the second" : "to the first";
  },
  "settings changed": async ({ world, chance }) => {
    const env = chance.of(SETTINGS);
    const code = await world.weir.stop();
    if (code !== 0) throw new Error(`the server ended with ${code} on SIGTERM`);
    await world.weir.restart({ env });
    return JSON.stringify(env);
  },
  "disk full": async ({ world, chance }) => {
    if (!world.disk) throw new NotMade(NO_DISK);
    const giveBack = await world.disk.fill(chance.of([0, 4_096, 1_000_000, 100_000_000]));
    const ms = chance.ms(2_000, 10_000);
    await sleep(ms);
    await giveBack();
    world.loses(segmentsIn(ms) + DISK_SEGMENTS);
    return `for ${ms} ms`;
  },
  "disk read-only": async ({ world, chance }) => {
    if (!world.disk) throw new NotMade(NO_DISK);
    await world.disk.makeReadOnly();
    const ms = chance.ms(1_000, 8_000);
    await sleep(ms);
    await world.endAll();
    world.loses(segmentsIn(ms) + DISK_SEGMENTS);
    await world.weir.restart();
    return `for ${ms} ms, then mounted again`;
  },
  "power cut": async ({ world, chance }) => {
    if (!world.disk) throw new NotMade(NO_DISK);
    await world.disk.cutPower();
    await world.endAll();
    world.loses(DISK_SEGMENTS);
    const ms = chance.ms(0, 2_000);
    await sleep(ms);
    await world.weir.restart();
    return `back after ${ms} ms`;
  },
};

async function disturbed({ world, chance }: FaultScene, fault: "cut" | "silent" | "slow"): Promise<string> {
  world.line.fault = fault;
  const ms = chance.ms(1_000, 14_000);
  await sleep(ms);
  world.line.fault = "open";
  return `for ${ms} ms`;
}

async function stored({ world, chance }: FaultScene, fault: World["store"]["fault"]): Promise<string> {
  world.store.fault = fault;
  const ms = chance.ms(2_000, 14_000);
  await sleep(ms);
  world.store.fault = "none";
  return `for ${ms} ms`;
}

async function stopped(pid: number, ms: number): Promise<string> {
  send(pid, "SIGSTOP");
  await sleep(ms);
  send(pid, "SIGCONT");
  return `${ms} ms`;
}

/** A process that the server started: a transcoder, the WebRTC process … */
function childOf(world: World, chance: Chance): { readonly pid: number; readonly kind: string } {
  const [, ...children] = familyOf(world.weir.pid);
  const kinds = Map.groupBy(children, commandOf);
  if (kinds.size === 0) throw new NotMade("the server has no child");
  // Of each kind as often as of any other, however many there are.
  const kind = chance.of([...kinds.keys()].toSorted());
  return { pid: chance.of(kinds.get(kind) ?? []), kind };
}

/** A viewer on a connection of its own who asks for a list that is to come, and reads nothing of it. */
function askAndNeverRead({ weir }: World, playbackId: string): Socket {
  const socket = connect(weir.httpPort, "127.0.0.1")
    .on("error", () => {})
    .pause();
  socket.write(`GET /hls/${playbackId}/index.m3u8 HTTP/1.1\r\nHost: 127.0.0.1:${weir.httpPort}\r\n\r\n`.repeat(20));
  return socket;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
