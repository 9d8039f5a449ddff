import type { ServerCost } from "./server-cost.ts";

/** What a server does, in numbers of each. A ladder is a stream with its rungs. */
export interface Mix {
  readonly streams: number;
  readonly ladders: number;
  readonly hlsViewers: number;
  readonly whepViewers: number;
}

export type MixPart = keyof Mix;
export const MIX_PARTS: readonly MixPart[] = ["streams", "ladders", "hlsViewers", "whepViewers"];

/** What one of them costs, and by how much it delays parts: all viewers of a part ask for it at once, and the last is served after the others. */
export interface PartCost extends ServerCost {
  readonly lateMs: number;
}

/** What each costs, and the server before it does anything. */
export interface MeasuredCosts {
  readonly idle: ServerCost;
  readonly each: Readonly<Record<MixPart, PartCost>>;
}

/** What there is to use. */
export interface Machine {
  readonly cores: number;
  readonly bytes: number;
}

/** What a mix uses up first. */
export type Limit = "cores" | "mainThread" | "webrtcThread" | "bytes" | "lateMs";

/**
 * Above this share of a core or of all, it is used up. Viewers then get parts 200 ms late. Publishers alone delay parts by 150 ms until there are 1.4 times as many,
 * because each turn of the event loop reads more of a stream: that is no capacity to plan with. See `npm run bench -- --only capacity`.
 */
const FULL = 0.97;
/** How late parts may be. */
export const LATE_MS = 200;
/** The rest of the memory is for the cache of the disk, and for what nobody expected. */
const FULL_MEMORY = 0.8;

/** How many times the mix fits into the machine, not rounded, and what is used up then. */
export function carried(mix: Mix, { idle, each }: MeasuredCosts, machine: Machine): { times: number; limit: Limit } {
  const room: Readonly<Record<Limit, number>> = {
    cores: machine.cores * FULL - idle.cores,
    mainThread: Math.min(1, machine.cores) * FULL - idle.mainThread,
    webrtcThread: Math.min(1, machine.cores) * FULL,
    bytes: machine.bytes * FULL_MEMORY - idle.bytes,
    lateMs: LATE_MS,
  };
  const fits = (Object.keys(room) as Limit[]).map((limit) => {
    const needed = MIX_PARTS.reduce((sum, part) => sum + mix[part] * each[part][limit], 0);
    return { limit, times: needed === 0 ? Number.POSITIVE_INFINITY : Math.max(0, room[limit]) / needed };
  });
  return fits.reduce((least, one) => (one.times < least.times ? one : least));
}

/** The mix of one of these alone. */
export function only(part: MixPart): Mix {
  return { streams: 0, ladders: 0, hlsViewers: 0, whepViewers: 0, [part]: 1 };
}
