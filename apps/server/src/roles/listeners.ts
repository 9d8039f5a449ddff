import { Listener } from "../platform/listener.ts";
import type { Config } from "./config.ts";

/** Every port of a server. Null where the settings turn one off. */
export interface Listeners {
  readonly http: Listener;
  readonly https: Listener | null;
  /** In a process without the role media, where another one listens. */
  readonly rtmp: Listener;
  readonly webrtc: Listener | null;
  readonly stun: Listener | null;
  readonly metrics: Listener | null;
}

export function listenersOf(config: Config): Listeners {
  const { host, httpPort, httpsPort, rtmpPort, webrtcPort, stunPort, metricsHost, metricsPort } = config;
  return {
    http: new Listener("HTTP", host, httpPort),
    https: config.tlsCert === null ? null : new Listener("HTTPS", host, httpsPort),
    rtmp: new Listener("RTMP", host, rtmpPort),
    webrtc: webrtcPort === null ? null : new Listener("WebRTC UDP", host, webrtcPort),
    stun: webrtcPort === null || stunPort === null ? null : new Listener("STUN UDP", host, stunPort),
    metrics: metricsPort === null ? null : new Listener("metrics", metricsHost, metricsPort),
  };
}

/** As far as they are open; the others as set. */
export function tcpPorts({ http, https, rtmp, metrics }: Listeners): number[] {
  return [http, https, rtmp, metrics].flatMap((listener) => listener?.port ?? []);
}
