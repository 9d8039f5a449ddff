import { randomUUID } from "node:crypto";
import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { createServer, get as httpGet, type IncomingHttpHeaders, type Server } from "node:http";
import { createServer as createTlsServer, get as httpsGet } from "node:https";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { listenersOf } from "../listeners.ts";
import { type Check, type Finding, notChecked, ok, type Patient, problem, reasonOf } from "./finding.ts";

const ANSWER_WITHIN_MS = 5_000;

/** A request as it arrived at this machine. */
interface Arrived {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  readonly port: number;
}

/**
 * Whether the public address leads here, and what a proxy on the way says about the client. While no server runs, this process answers on its ports in its place;
 * of a running server only the outside is seen.
 */
export const checkAddress: Check = async (patient) => {
  const { publicUrl } = patient.config;
  if (publicUrl === null)
    return [notChecked("address", "WEIR_PUBLIC_URL is not set: answers have the address that the request was sent to")];
  const nat = await natOf(patient, new URL(publicUrl).hostname);
  return [patient.isRunning ? await fromRunning(publicUrl) : await fromStandIn(patient, publicUrl), ...nat];
};

async function fromRunning(publicUrl: string): Promise<Finding> {
  try {
    const { body } = await request(`${publicUrl}/api`);
    if (!/"name":\s*"weir/i.test(body)) return problem("address", elsewhere(publicUrl));
    return ok("address", `a Weir answers at ${publicUrl}; the headers of a proxy are only checked while it is stopped`);
  } catch (error) {
    return problem("address", unreachable(publicUrl, error));
  }
}

async function fromStandIn(patient: Patient, publicUrl: string): Promise<Finding> {
  const nonce = `/.weir-doctor/${randomUUID()}`;
  const arrived: Arrived[] = [];
  const servers = await standIn(patient, (path, one) => path === nonce && arrived.push(one));
  if (servers === null)
    return notChecked("address", "another program has the HTTP port, so that nothing can be tried through it");
  try {
    const { localPort } = await request(publicUrl + nonce);
    const [one] = arrived;
    if (!one) return problem("address", elsewhere(publicUrl));
    // The same connection at both ends.
    if (one.port === localPort) return ok("address", `${publicUrl} leads here, without a proxy`);
    return proxyFinding(patient, publicUrl, one);
  } catch (error) {
    return problem("address", unreachable(publicUrl, error));
  } finally {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}

const elsewhere = (publicUrl: string): string =>
  `WEIR_PUBLIC_URL is ${publicUrl}, and another server answers there: correct it, its DNS record, or the proxy that it leads to`;

const unreachable = (publicUrl: string, error: unknown): string =>
  `WEIR_PUBLIC_URL is ${publicUrl}, and nothing usable answers there (${reasonOf(error)}): correct it, its DNS record, or the proxy or firewall in front`;

function proxyFinding({ config }: Patient, publicUrl: string, { headers, address }: Arrived): Finding {
  const { host, protocol } = new URL(publicUrl);
  if (!new TrustedProxies(config.trustedProxies ?? []).has(address))
    return problem(
      "proxy",
      `requests to ${publicUrl} arrive through a proxy at ${address}, which is not trusted, so all viewers look like one: set WEIR_TRUSTED_PROXIES to include it`,
    );
  const missing = [
    headers["x-forwarded-for"] === undefined ? "X-Forwarded-For" : [],
    headers["x-forwarded-proto"] !== protocol.slice(0, -1) ? "X-Forwarded-Proto" : [],
    headers["x-forwarded-host"] !== host && headers.host !== host ? "X-Forwarded-Host" : [],
  ].flat();
  if (missing.length > 0)
    return problem(
      "proxy",
      `the proxy at ${address} does not send ${missing.join(" and ")} with the viewer's values: add it to its configuration (docs/4-operate/README.md, Behind a proxy)`,
    );
  return ok("proxy", `the proxy at ${address} names viewers, and ${publicUrl} leads here`);
}

/** Servers on the HTTP ports of a Weir that does not run. Null if a port is taken, which is another check's finding. */
async function standIn(
  { config }: Patient,
  onRequest: (path: string, arrived: Arrived) => void,
): Promise<Server[] | null> {
  const { http, https } = listenersOf(config);
  const answer = createServer((req, res) => {
    const { remoteAddress = "", remotePort = 0 } = req.socket;
    onRequest(req.url ?? "", { headers: req.headers, address: remoteAddress, port: remotePort });
    res.end("weir doctor\n");
  });
  try {
    await http.open(answer, () => {});
    if (https === null || config.tlsCert === null || config.tlsKey === null) return [answer];
    const identity = { cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) };
    const secure = createTlsServer(identity, (req, res) => void answer.emit("request", req, res));
    await https.open(secure, () => {});
    return [answer, secure];
  } catch {
    answer.close();
    return null;
  }
}

async function request(url: string): Promise<{ body: string; localPort: number | undefined }> {
  const get = url.startsWith("https:") ? httpsGet : httpGet;
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: false, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }, (response) => {
      const { localPort } = response.socket;
      text(response).then((body) => resolve({ body, localPort }), reject);
    });
    asked.once("error", reject);
  });
}

/** A machine behind NAT does not know the address at which WebRTC reaches it. */
async function natOf({ config }: Patient, hostname: string): Promise<Finding[]> {
  if (config.webrtcPort === null || config.webrtcAddress !== null) return [];
  const own = new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)));
  const found = await lookup(hostname, { all: true }).catch(() => []);
  const [first] = found;
  if (!first || found.some(({ address }) => own.has(address))) return [];
  return [
    problem(
      "WebRTC address",
      `${hostname} is ${first.address}, which is not an address of this machine, and WEIR_WEBRTC_ADDRESS is not set: set it to the address at which UDP port ${config.webrtcPort} is forwarded here`,
    ),
  ];
}
