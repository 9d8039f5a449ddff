import { Listener } from "../platform/listener.ts";
import type { Config } from "./config.ts";

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

export function listenersOf(config: Config): Listeners {
  const { host, httpPort, httpsPort, tlsCert, rtmpPort, rtmpsPort, srtPort, webrtcPort, stunPort } = config;
  const { metricsHost, metricsPort } = config;
  return {
    http: new Listener("HTTP", host, httpPort),
    https: tlsCert === null ? null : new Listener("HTTPS", host, httpsPort),
    rtmp: new Listener("RTMP", host, rtmpPort),
    rtmps: tlsCert === null || rtmpsPort === null ? null : new Listener("RTMPS", host, rtmpsPort),
    srt: srtPort === null ? null : new Listener("SRT UDP", host, srtPort),
    webrtc: webrtcPort === null ? null : new Listener("WebRTC UDP", host, webrtcPort),
    stun: webrtcPort === null || stunPort === null ? null : new Listener("STUN UDP", host, stunPort),
    metrics: metricsPort === null ? null : new Listener("metrics", metricsHost, metricsPort),
  };
}

/** As far as they are open; the others as set. */
export function tcpPorts({ http, https, rtmp, rtmps, metrics }: Listeners): number[] {
  return [http, https, rtmp, rtmps, metrics].flatMap((listener) => listener?.port ?? []);
}
