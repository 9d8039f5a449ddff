import { Listener } from "../platform/listener.ts";
import type { Config } from "./config.ts";
import type { ProcessShare } from "./process-share.ts";

/** Every port of a server. Null where the settings turn one off. */
export interface Listeners {
  readonly http: Listener;
  readonly https: Listener | null;
  /** In a process without the role media, where another one listens. */
  readonly rtmp: Listener;
  readonly rtmps: Listener | null;
  readonly srt: Listener | null;
  readonly webrtc: Listener | null;
  readonly stun: Listener | null;
  readonly metrics: Listener | null;
}

/** `share`: of a process that opens its TCP ports together with others. */
export function listenersOf(config: Config, share: ProcessShare | null = null): Listeners {
  const sharing = share?.sharing ?? null;
  const { host, httpPort, httpsPort, tlsCert, rtmpPort, rtmpsPort, srtPort, webrtcPort, stunPort } = config;
  const { metricsHost, metricsPort } = config;
  return {
    http: new Listener("HTTP", host, httpPort, sharing),
    https: tlsCert === null ? null : new Listener("HTTPS", host, httpsPort, sharing),
    rtmp: new Listener("RTMP", host, rtmpPort, sharing),
    rtmps: tlsCert === null || rtmpsPort === null ? null : new Listener("RTMPS", host, rtmpsPort, sharing),
    srt: srtPort === null ? null : new Listener("SRT UDP", host, srtPort),
    webrtc: webrtcPort === null ? null : new Listener("WebRTC UDP", host, webrtcPort),
    stun: webrtcPort === null || stunPort === null ? null : new Listener("STUN UDP", host, stunPort),
    metrics: metricsPort === null ? null : new Listener("metrics", metricsHost, metricsPort),
  };
}

/** Those that a source or a target could lead back to. As far as they are open; the others as set. */
export function calledPorts({ http, https, rtmp, rtmps, srt, metrics }: Listeners): number[] {
  return [http, https, rtmp, rtmps, srt, metrics].flatMap((listener) => listener?.port ?? []);
}

/** Those that other processes of this server have open, and this one has not. `config`: of the whole server. */
export function calledPortsOfOthers({ metricsPort }: Pick<Config, "metricsPort">, share?: ProcessShare): number[] {
  return share === undefined ? [] : [metricsPort, share.udp?.srt].flatMap((port) => port ?? []);
}
