import { expect, it } from "vitest";
import type { Config } from "./config.ts";
import { calledPorts, calledPortsOfOthers, listenersOf } from "./listeners.ts";
import type { ProcessShare } from "./process-share.ts";

const PORTS = {
  host: "127.0.0.1",
  metricsHost: "127.0.0.1",
  tlsCert: "c.pem",
  httpPort: 1,
  httpsPort: 2,
  rtmpPort: 3,
  rtmpsPort: 4,
  srtPort: 5,
  webrtcPort: 6,
  stunPort: 7,
  metricsPort: 8,
};

it("a source or a target may lead back to every port of HTTP, RTMP, SRT and metrics that is not off", () => {
  expect(calledPorts(listenersOf(PORTS as unknown as Config))).toEqual([1, 2, 3, 4, 5, 8]);
  const off = { ...PORTS, tlsCert: null, srtPort: null, metricsPort: null };
  expect(calledPorts(listenersOf(off as unknown as Config))).toEqual([1, 3]);
});

it("with several processes, also to the metrics of their parent and the SRT port of the first one", () => {
  const share = { number: 2, of: 2, udp: { srt: 5, stun: 7 } } as unknown as ProcessShare;
  expect(calledPortsOfOthers({ metricsPort: 8 }, share)).toEqual([8, 5]);
  expect(calledPortsOfOthers({ metricsPort: null }, { ...share, udp: null })).toEqual([]);
  expect(calledPortsOfOthers({ metricsPort: 8 })).toEqual([]);
});
