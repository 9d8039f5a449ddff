import { lookup } from "node:dns/promises";
import { readFileSync, realpathSync } from "node:fs";
import { createServer, get as httpGet, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer, get as httpsGet } from "node:https";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { openRunFolder } from "../../platform/data-folder.ts";
import { type Arrived, arrivedOf, newDoctorPath, provenTo } from "../../platform/http/arrived-request.ts";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { listenersOf } from "../listeners.ts";
import { type Check, type Finding, notChecked, ok, type Patient, problem, reasonOf } from "./finding.ts";

const ANSWER_WITHIN_MS = 5_000;

/**
 * Whether the public address leads here, and what a proxy on the way says about the client. A running server tells how the request arrived; while none runs, this
 * process answers on its ports.
 */
export const checkAddress: Check = async (patient) => {
  const { publicUrl } = patient.config;
  if (publicUrl === null)
    return [
      notChecked("address", "WEIR_PUBLIC_URL is not set: responses contain the address that the request was sent to"),
    ];
  const nat = await natOf(patient, new URL(publicUrl).hostname);
  return [patient.isRunning ? await fromRunning(patient, publicUrl) : await fromStandIn(patient, publicUrl), ...nat];
};

async function fromRunning(patient: Patient, publicUrl: string): Promise<Finding> {
  const path = newDoctorPath();
  try {
    const runFolder = openRunFolder(realpathSync(patient.config.dataDir));
    const { status, body, localPort } = await provenTo(runFolder, path, () => request(publicUrl + path));
    if (status === 200) return routeFinding(patient, publicUrl, JSON.parse(body) as Arrived, localPort);
  } catch (error) {
    // Neither the answer of a server nor that of a proxy in its place.
    if (!(error instanceof SyntaxError)) return problem("address", unreachable(publicUrl, error));
  }
  return anotherAnswers(publicUrl);
}

/** Several processes behind one address are no fault. */
async function anotherAnswers(publicUrl: string): Promise<Finding> {
  try {
    const { body } = await request(`${publicUrl}/api`);
    if (!/"name":\s*"weir/i.test(body)) return problem("address", elsewhere(publicUrl));
  } catch (error) {
    return problem("address", unreachable(publicUrl, error));
  }
  return notChecked(
    "address",
    `at ${publicUrl} another process of Weir answered, or one of an earlier version: what the proxy sends to this one is not known`,
  );
}

async function fromStandIn(patient: Patient, publicUrl: string): Promise<Finding> {
  const path = newDoctorPath();
  const arrived: Arrived[] = [];
  const servers = await standIn(patient, (req) => req.url === path && arrived.push(arrivedOf(req)));
  if (servers === null)
    return notChecked("address", "another program has the HTTP port, so that nothing can be tried through it");
  try {
    const { localPort } = await request(publicUrl + path);
    const [one] = arrived;
    return one ? routeFinding(patient, publicUrl, one, localPort) : problem("address", elsewhere(publicUrl));
  } catch (error) {
    return problem("address", unreachable(publicUrl, error));
  } finally {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}

function routeFinding(patient: Patient, publicUrl: string, arrived: Arrived, localPort: number | undefined): Finding {
  // The same connection at both ends.
  if (arrived.port === localPort) return ok("address", `${publicUrl} leads here, without a proxy`);
  return proxyFinding(patient, publicUrl, arrived);
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
async function standIn({ config }: Patient, onRequest: (request: IncomingMessage) => void): Promise<Server[] | null> {
  const { http, https } = listenersOf(config);
  const answer = createServer((req, res) => {
    onRequest(req);
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

async function request(url: string): Promise<{ status: number; body: string; localPort: number | undefined }> {
  const get = url.startsWith("https:") ? httpsGet : httpGet;
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: false, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }, (response) => {
      const { localPort } = response.socket;
      const { statusCode: status = 0 } = response;
      text(response).then((body) => resolve({ status, body, localPort }), reject);
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
