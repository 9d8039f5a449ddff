import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../support/chance.ts";
import { familyOf } from "../support/process-family.ts";
import type { Encoder } from "./encoder.ts";
import type { World } from "./world.ts";

export interface FaultScene {
  readonly world: World;
  readonly encoders: readonly Encoder[];
  readonly chance: Chance;
}

/** Resolves when the fault is over. What it did is told to people. */
export type Fault = (scene: FaultScene) => Promise<string>;

/** What goes wrong, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  "server killed": async ({ world, chance }) => {
    await world.weir.kill();
    world.kills++;
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
    if (child === null) return "there was none";
    send(child.pid, "SIGKILL");
    return child.kind;
  },
  "child stopped": async ({ world, chance }) => {
    const child = childOf(world, chance);
    return child === null ? "there was none" : `${child.kind} for ${await stopped(child.pid, chance.ms(500, 5_000))}`;
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
    await chance.of(encoders).cut();
    return "";
  },
  "encoder silent": async ({ encoders, chance }) => {
    const ms = chance.ms(1_000, 9_000);
    await chance.of(encoders).silence(ms);
    return `for ${ms} ms`;
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
function childOf(world: World, chance: Chance): { readonly pid: number; readonly kind: string } | null {
  const [, ...children] = familyOf(world.weir.pid);
  if (children.length === 0) return null;
  const pid = chance.of(children);
  return { pid, kind: kindOf(pid) };
}

function kindOf(pid: number): string {
  try {
    return /([\w-]+)\.ts/.exec(readFileSync(`/proc/${pid}/cmdline`, "latin1"))?.[1] ?? "a child";
  } catch {
    return "a child that had ended";
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
