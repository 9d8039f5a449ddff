import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { RefusedConnection } from "./refused-connection.ts";
import { connectRtmp } from "./rtmp-connection.ts";
import type { RestreamResources } from "./session-targets.ts";
import type { TargetConnection, TargetConnectionHandler } from "./target-connection.ts";

const MIB = 1024 * 1024;
/** What may wait for one target: 8 s of 4 Mbit/s. With many connections each may have less, so that all together stay below the second number. */
const MAX_QUEUED = 4 * MIB;
const MAX_QUEUED_IN_ALL = 256 * MIB;
const MIN_QUEUED = MIB / 2;

export interface RestreamingSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Pick<Outbound, "dial">;
}

/** What a node forwards broadcasts with: the ways to targets, and what may wait on them. */
export class Restreaming implements RestreamResources {
  readonly #settings: RestreamingSettings;
  readonly sent = { bytes: 0, skippedMs: 0 };
  #open = 0;

  constructor(settings: RestreamingSettings) {
    this.#settings = settings;
  }

  readonly maxQueued = (): number =>
    Math.max(MIN_QUEUED, Math.min(MAX_QUEUED, MAX_QUEUED_IN_ALL / Math.max(1, this.#open)));

  readonly connect = (url: string, handler: TargetConnectionHandler): TargetConnection => {
    const connected = this.#tryToConnect(url, handler);
    if (typeof connected === "string") return new RefusedConnection(this.#settings.clock, handler, connected);
    this.#open++;
    return connected;
  };

  #tryToConnect(url: string, handler: TargetConnectionHandler): TargetConnection | string {
    try {
      return this.#connect(url, handler);
    } catch (error) {
      this.#settings.log.error({ err: error }, "could not connect to a multistream target");
      return "it is not an address that can be connected to";
    }
  }

  #connect(url: string, handler: TargetConnectionHandler): TargetConnection | string {
    if (/^srt:/i.test(url)) return "this server does not send over SRT yet, so give it an rtmp:// or rtmps:// address";
    return connectRtmp({ ...this.#settings, url, handler, onOver: () => this.#open-- });
  }
}
