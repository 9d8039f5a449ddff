import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import type { Listener } from "../../platform/listener.ts";
import type { Config } from "../config.ts";
import { listenersOf } from "../listeners.ts";
import { webrtcPortOf } from "../process-share.ts";
import { type Check, type Finding, lookAt, notChecked, ok, problem } from "./finding.ts";

const ANSWER_WITHIN_MS = 2_000;

/** Whether each TCP port can be opened, or while a server runs, accepts connections. */
export const checkPorts: Check = async ({ config, isRunning }) => {
  const { http, https, rtmp, rtmps, metrics } = listenersOf(config);
  const ofMedia = config.roles.includes("media") ? [rtmp, rtmps] : [];
  const wanted = [http, https, ...ofMedia, metrics].filter((one) => one !== null);
  return Promise.all(
    wanted.filter(({ port }) => port !== 0).map((listener) => (isRunning ? answering(listener) : free(listener))),
  );
};

function free(listener: Listener): Promise<Finding> {
  const about = `${listener.name} port`;
  return lookAt(about, async () => {
    await listener.check();
    return ok(about, `${listener.port} is free`);
  });
}

async function answering({ name, host, port }: Listener): Promise<Finding> {
  const socket = connect({
    host: host === "0.0.0.0" || host === "::" ? "localhost" : host,
    port,
    timeout: ANSWER_WITHIN_MS,
  });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return ok(`${name} port`, `${port} answers`);
  } catch {
    return problem(
      `${name} port`,
      `a server runs, and its ${name} port ${port} does not answer: see its log, and give doctor the settings that the server has`,
    );
  } finally {
    socket.destroy();
  }
}

/** Whether a packet by UDP to an own address arrives, on the port that WebRTC uses. A firewall elsewhere is only seen from outside. */
export const checkUdp: Check = async ({ config, isRunning }) => {
  const { webrtc, stun, srt } = listenersOf(config);
  const wanted = [webrtc, ...furtherWebrtc(config), stun, srt].filter((one) => one !== null);
  if (wanted.length === 0) return [];
  if (isRunning)
    return [
      notChecked(
        "UDP",
        "the running server uses the ports: try them from another machine with weir doctor --from-outside",
      ),
    ];
  return Promise.all(
    wanted.map((listener) => lookAt(`${listener.name} port`, () => udpArrives(`${listener.name} port`, listener))),
  );
};

/** Of the media processes behind the first. */
function furtherWebrtc(config: Config): (Listener | null)[] {
  const further = config.roles.includes("media") ? config.mediaProcesses - 1 : 0;
  return Array.from({ length: further }, (_, index) => {
    return listenersOf({ ...config, webrtcPort: webrtcPortOf(config.webrtcPort, index + 2) }).webrtc;
  });
}

async function udpArrives(about: string, listener: Listener): Promise<Finding> {
  const receiver = await listener.openUdp();
  const isIpv6 = listener.host.includes(":");
  const sender = createSocket(isIpv6 ? "udp6" : "udp4");
  try {
    const arrived = once(receiver, "message", { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    arrived.catch(() => {});
    const target = ownAddress(listener.host);
    await new Promise<void>((resolve, reject) =>
      sender.send("weir doctor", listener.port, target, (error) => (error ? reject(error) : resolve())),
    );
    await arrived;
    return ok(about, `a packet to ${target}:${listener.port} arrives`);
  } catch {
    return problem(
      about,
      `UDP is blocked on this machine, so ${listener.name.startsWith("SRT") ? "SRT" : "WebRTC"} fails: allow UDP port ${listener.port} in its firewall`,
    );
  } finally {
    sender.close();
    receiver.close();
  }
}

/** An address of this machine that others may use, else loopback. */
function ownAddress(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host;
  const family = host === "::" ? "IPv6" : "IPv4";
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find((one) => !one.internal && one.family === family && !one.address.startsWith("fe80"));
  return outer?.address ?? (host === "::" ? "::1" : "127.0.0.1");
}
