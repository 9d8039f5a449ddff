import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { type Finding, notChecked, ok, problem, reasonOf } from "./finding.ts";

const ANSWER_WITHIN_MS = 5_000;
const STUN_TRIES = 3;
/** RFC 8489, section 5. */
const STUN = { request: 0x0001, response: 0x0101, cookie: 0x2112a442 };
/** The first bytes of a client, and the version that a server answers with. */
const RTMP = { greeting: 1 + 1536, version: 3 };

export interface OutsidePorts {
  readonly rtmp: number;
  readonly stun: number;
}

/** The ports of a server, tried from this machine. */
export async function examineFromOutside(url: string, ports: OutsidePorts): Promise<Finding[]> {
  const { hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return [
    ...(await Promise.all([tryHttp(url), tryRtmp(host, ports.rtmp), tryStun(host, ports.stun)])),
    notChecked(
      "WebRTC",
      "its port answers only invited clients: if STUN works and WebRTC does not, open UDP port 8189 as well",
    ),
  ];
}

async function tryHttp(url: string): Promise<Finding> {
  try {
    const response = await fetch(`${url}/healthz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (response.status === 200) return ok("HTTP", `${url} answers`);
    return problem(
      "HTTP",
      `${url}/healthz is answered with ${response.status}: point the proxy at Weir's HTTP port, and start Weir`,
    );
  } catch (error) {
    return problem(
      "HTTP",
      `nothing usable answers at ${url} (${reasonOf(error)}): open the port in the firewall, and check DNS and certificate`,
    );
  }
}

async function tryRtmp(host: string, port: number): Promise<Finding> {
  const socket = connect({ host, port });
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    await once(socket, "connect", { signal });
    socket.write(Buffer.concat([Buffer.from([RTMP.version]), Buffer.alloc(8), randomBytes(RTMP.greeting - 9)]));
    const [answer] = (await once(socket, "data", { signal })) as [Buffer];
    if (answer[0] === RTMP.version) return ok("RTMP", `${host}:${port} answers`);
    return problem("RTMP", `another program answers at ${host}:${port}: forward the port to Weir's RTMP port`);
  } catch (error) {
    return problem(
      "RTMP",
      `RTMP port ${port} of ${host} does not answer (${reasonOf(error)}): open TCP port ${port} in the firewall`,
    );
  } finally {
    socket.destroy();
  }
}

async function tryStun(host: string, port: number): Promise<Finding> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  const id = randomBytes(12);
  const request = Buffer.alloc(20);
  request.writeUInt16BE(STUN.request, 0);
  request.writeUInt32BE(STUN.cookie, 4);
  id.copy(request, 8);
  const blocked = `UDP port ${port} of ${host} does not answer, so WebRTC fails: open UDP ports ${port} and 8189 in the firewall`;
  try {
    for (let left = STUN_TRIES; left > 0; left--) {
      const answer = once(socket, "message", { signal: AbortSignal.timeout(ANSWER_WITHIN_MS / STUN_TRIES) });
      answer.catch(() => {});
      await new Promise<void>((resolve, reject) =>
        socket.send(request, port, host, (error) => (error ? reject(error) : resolve())),
      );
      const [message] = ((await answer.catch(() => [])) ?? []) as [Buffer?];
      if (message?.readUInt16BE(0) === STUN.response && message.subarray(8, 20).equals(id))
        return ok("UDP", `${host}:${port} answers`);
    }
    return problem("UDP", blocked);
  } catch {
    return problem("UDP", blocked);
  } finally {
    socket.close();
  }
}
