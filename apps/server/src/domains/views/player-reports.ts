import { LRUCache } from "lru-cache";
import type { PlayerReport } from "./view-store.ts";

/** Players remembered, so that each counts its first picture and its first error once. */
const MAX_PLAYERS = 50_000;
/** Players report every 5 s; one heartbeat cannot claim more time than this. */
const MAX_HEARTBEAT_MS = 60_000;
const MAX_TTFF_MS = 600_000;

interface Known {
  hasStarted: boolean;
  hasFailed: boolean;
}

type Event = Readonly<Record<string, unknown>>;

/** Turns players' events into totals. A player is identified by its session id. */
export class PlayerReports {
  readonly #players = new LRUCache<string, Known>({ max: MAX_PLAYERS });

  read(player: string, events: readonly unknown[]): PlayerReport {
    const known = this.#players.get(player);
    const state = known ?? { hasStarted: false, hasFailed: false };
    if (!known) this.#players.set(player, state);
    const all = events.filter((event): event is Event => typeof event === "object" && event !== null);
    const heartbeats = all.filter(({ type }) => type === "heartbeat");
    const sum = (...fields: string[]) =>
      heartbeats.reduce((total, heartbeat) => total + milliseconds(heartbeat, fields, MAX_HEARTBEAT_MS), 0);

    const first = heartbeats.find(({ play_to_first_frame_ms: ms }) => typeof ms === "number" && ms >= 0);
    const starts = first && !state.hasStarted ? 1 : 0;
    if (first) state.hasStarted = true;
    const errors = !state.hasFailed && all.some(({ type }) => type === "error") ? 1 : 0;
    if (errors) state.hasFailed = true;
    return {
      errors,
      heartbeats: heartbeats.length,
      players: known ? 0 : 1,
      starts,
      ttffMs: starts && first ? milliseconds(first, ["play_to_first_frame_ms"], MAX_TTFF_MS) : 0,
      playingMs: sum("time_playing_ms"),
      rebufferingMs: sum("time_waiting_ms", "time_stalled_ms"),
    };
  }
}

/** The sum of these fields of an event, whatever types the player sent. */
function milliseconds(event: Event, fields: readonly string[], most: number): number {
  const sum = fields.reduce((total, name) => {
    const value = event[name];
    return total + (typeof value === "number" && value > 0 ? value : 0);
  }, 0);
  return Math.round(Math.min(sum, most));
}
