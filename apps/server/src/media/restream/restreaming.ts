import type { Clock } from "../../platform/clock.ts";
import { Places } from "../../platform/limits/places.ts";
import type { Log } from "../../platform/log.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { SrtProcess } from "../srt/index.ts";
import { LineMemory } from "./line-pages.ts";
import { RefusedConnection, refusedTarget } from "./refused-connection.ts";
import { connectRtmp } from "./rtmp-connection.ts";
import type { RestreamResources } from "./session-targets.ts";
import { connectSrt } from "./srt-connection.ts";
import type { ConnectTarget, TargetConnection, TargetConnectionHandler, TargetFailure } from "./target-connection.ts";

const MIB = 1024 * 1024;
/**
 * Limit of the bytes queued for one target: 8 s at 4 Mbit/s. With many connections the limit of each is lower, so that the total stays below
 * MAX_QUEUED_IN_ALL.
 */
const MAX_QUEUED = 4 * MIB;
const MAX_QUEUED_IN_ALL = 256 * MIB;
const MIN_QUEUED = MIB / 2;
/** Each connection uses a file descriptor, which viewers also need. */
const MAX_CONNECTIONS = { inAll: 500, perHolder: 200 };
const FULL: TargetFailure = {
  reason: `This server has reached its limit of multistream connections (${MAX_CONNECTIONS.perHolder} per project). Remove a target, or end a broadcast.`,
  isTemporary: true,
};

export interface RestreamingSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Pick<Outbound, "dial" | "find" | "refusalOf">;
  readonly srt: Pick<SrtProcess, "connect">;
}

/** A node's resources for forwarding broadcasts: connections to targets, and their queue limits. */
export class Restreaming implements RestreamResources {
  readonly #settings: RestreamingSettings;
  readonly sent = { bytes: 0, skippedMs: 0 };
  readonly memory = new LineMemory();
  /** Connections per project. */
  readonly #open = new Places(MAX_CONNECTIONS);

  constructor(settings: RestreamingSettings) {
    this.#settings = settings;
  }

  readonly maxQueued = (): number =>
    Math.max(MIN_QUEUED, Math.min(MAX_QUEUED, MAX_QUEUED_IN_ALL / Math.max(1, this.#open.taken)));

  connectFor(projectId: string): ConnectTarget {
    const { clock } = this.#settings;
    return (url, handler) => {
      if (!this.#open.take(projectId)) return new RefusedConnection(clock, handler, FULL);
      const connected = this.#tryToConnect(url, handler, () => this.#open.giveBack(projectId));
      if (typeof connected !== "string") return connected;
      this.#open.giveBack(projectId);
      return new RefusedConnection(clock, handler, refusedTarget(connected));
    };
  }

  /** `onOver` is called once, when the connection ends. */
  #tryToConnect(url: string, handler: TargetConnectionHandler, onOver: () => void): TargetConnection | string {
    const settings = { ...this.#settings, url, handler, onOver };
    try {
      return /^srt:/i.test(url) ? connectSrt(settings) : connectRtmp(settings);
    } catch (error) {
      this.#settings.log.error({ err: error }, "could not connect to a multistream target");
      return "connecting to it failed";
    }
  }
}
