import type { PortSharing } from "../platform/listener.ts";
import type { PostgresAddress } from "../platform/postgres/embedded-postgres.ts";
import type { Config } from "./config.ts";

/** UDP ports as the first process has them open; null where one is not. */
export interface UdpPorts {
  readonly srt: number | null;
  readonly stun: number | null;
}

/** What one of several media processes of a server has of it. All values can be cloned: its parent sends them. */
export interface ProcessShare {
  /** From 1. The first one alone has the worker, STUN and the SRT port. */
  readonly number: number;
  /** Of so many. */
  readonly of: number;
  /** TCP ports that all share. */
  readonly ports: Pick<Config, "httpPort" | "httpsPort" | "rtmpPort" | "rtmpsPort">;
  readonly sharing: PortSharing;
  /** The embedded database, which the parent runs; null if the settings name another. */
  readonly database: PostgresAddress | null;
  /** Null in the first start of the first process, which finds out. */
  readonly udp: UdpPorts | null;
}

/** The settings of a process with this share. Metrics are its parent's. */
export function configOfShare(config: Config, { number, of, ports, udp }: ProcessShare): Config {
  const isFirst = number === 1;
  const divided = (limit: number) => Math.ceil(limit / of);
  const { webrtcPort, srtPort, stunPort } = config;
  return {
    ...config,
    ...ports,
    webrtcPort: webrtcPortOf(webrtcPort, number),
    stunPort: isFirst ? stunPort : null,
    // The same after a restart, where the setting picks a free one.
    srtPort: isFirst ? (udp?.srt ?? srtPort) : null,
    metricsPort: null,
    roles: isFirst ? config.roles : config.roles.filter((role) => role !== "worker"),
    connectionsPerClient: divided(config.connectionsPerClient),
    viewersPerClient: divided(config.viewersPerClient),
    viewersPerCredential: divided(config.viewersPerCredential),
    rateLimit: divided(config.rateLimit),
  };
}

/** Each process has a UDP port of its own, in a row. 0 picks a free one for each. */
export const webrtcPortOf = (webrtcPort: number | null, number: number): number | null =>
  webrtcPort === null || webrtcPort === 0 ? webrtcPort : webrtcPort + number - 1;
