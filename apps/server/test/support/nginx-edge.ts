import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { FIRST } from "../../src/platform/http/certificate.fixture.ts";
import { documentedProxy } from "./documented-proxy.ts";
import { freePort } from "./weir-process.ts";

export const NGINX = process.env.WEIR_TEST_NGINX ?? "/usr/sbin/nginx";
const SHIPPED = new URL("../../../../deploy/nginx/weir.conf", import.meta.url);
const LOG_CHARACTERS_KEPT = 20_000;

/** A configuration, with the lines that an operator changes. */
interface Shipped {
  readonly text: string;
  readonly listen: string;
  readonly tls: readonly string[];
}

/** The distribution's nginx with the repository's configuration, on loopback and in its own folder. */
export class NginxEdge {
  readonly url: string;
  /** TLS with HTTP/2, with the certificate `FIRST` for localhost. */
  readonly httpsUrl: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, folder: string, port: number, tlsPort: number) {
    this.#child = child;
    this.#folder = folder;
    this.url = `http://127.0.0.1:${port}`;
    this.httpsUrl = `https://localhost:${tlsPort}`;
  }

  /** The shipped edge, in front of the server on `originPort`. */
  static async start(originPort: number): Promise<NginxEdge> {
    return NginxEdge.#start(originPort, {
      text: await readFile(SHIPPED, "utf8"),
      listen: "listen 80;",
      tls: ["#listen 443 ssl http2;", "#ssl_certificate ", "#ssl_certificate_key "],
    });
  }

  /** The proxy that the documentation shows. */
  static startDocumented(originPort: number): Promise<NginxEdge> {
    const text = documentedProxy().replace("server {\n    listen", "server {\n    listen 80;\n    listen");
    return NginxEdge.#start(originPort, {
      text,
      listen: "listen 80;",
      tls: ["listen 443 ssl http2;", "ssl_certificate ", "ssl_certificate_key "],
    });
  }

  static async #start(originPort: number, shipped: Shipped): Promise<NginxEdge> {
    if (!existsSync(NGINX))
      throw new Error(
        `there is no nginx at ${NGINX}: install it (apt-get install nginx), or name it in WEIR_TEST_NGINX`,
      );
    const folder = await mkdtemp(join(tmpdir(), "weir-nginx-"));
    const port = await freePort();
    const tlsPort = await freePort();
    await mkdir(join(folder, "cache"));
    await writeFile(join(folder, "weir.crt"), FIRST.cert);
    await writeFile(join(folder, "weir.key"), FIRST.key);
    await writeFile(join(folder, "weir.conf"), configuration(shipped, { folder, port, tlsPort, originPort }));
    await writeFile(join(folder, "nginx.conf"), surroundings(folder));
    const child = spawn(NGINX, ["-p", folder, "-c", join(folder, "nginx.conf")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr?.on("data", (chunk) => {
      log = (log + chunk).slice(-LOG_CHARACTERS_KEPT);
    });
    const edge = new NginxEdge(child, folder, port, tlsPort);
    const answers = () =>
      fetch(`${edge.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    try {
      await vi.waitUntil(async () => child.exitCode !== null || (await answers()), { timeout: 10_000, interval: 50 });
    } catch (error) {
      await edge[Symbol.asyncDispose]();
      throw error;
    }
    if (child.exitCode !== null) throw new Error(`nginx did not start: ${log}`);
    return edge;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = new Promise((resolve) => this.#child.once("exit", resolve));
      this.#child.kill("SIGTERM");
      await exited;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The configuration with an operator's changes. */
function configuration(
  { text, listen, tls: [listenTls = "", certificate = "", key = ""] }: Shipped,
  {
    folder,
    port,
    tlsPort,
    originPort,
  }: Record<"port" | "tlsPort" | "originPort", number> & { readonly folder: string },
): string {
  let changed = text;
  for (const [shipped, here] of [
    ["server 127.0.0.1:8080;", `server 127.0.0.1:${originPort};`],
    [listen, `listen 127.0.0.1:${port};`],
    [listenTls, `listen 127.0.0.1:${tlsPort} ssl http2;`],
    [`${certificate}/etc/nginx/weir.crt;`, `ssl_certificate ${folder}/weir.crt;`],
    [`${key}/etc/nginx/weir.key;`, `ssl_certificate_key ${folder}/weir.key;`],
  ] as const) {
    if (!changed.includes(shipped)) throw new Error(`the nginx configuration has no ${JSON.stringify(shipped)}`);
    changed = changed.replaceAll(shipped, here);
  }
  return changed.replaceAll("/var/cache/nginx/", `${folder}/cache/`);
}

function surroundings(folder: string): string {
  // As root, nginx workers would switch to a user without access to the folder.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `${user} daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr;
events { worker_connections 512; }
http { ${temporary.join(" ")} include ${folder}/weir.conf; }
`;
}
