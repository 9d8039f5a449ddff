import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { freePort, type WeirProcess } from "./weir-process.ts";

const DEPLOY = new URL("../../../../deploy/", import.meta.url);
const HAPROXY = process.env.WEIR_TEST_HAPROXY ?? "/usr/sbin/haproxy";
const NGINX = process.env.WEIR_TEST_NGINX ?? "/usr/sbin/nginx";
const STREAM_MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so";
const LOG_CHARACTERS_KEPT = 20_000;

/** Null if the balancers are installed, else what to install. */
export const missingBalancers: string | null = [HAPROXY, NGINX, STREAM_MODULE].every(existsSync)
  ? null
  : "apt-get install haproxy nginx libnginx-mod-stream";

/** A node, as the balancers reach it. */
export interface BalancedNode {
  readonly weir: WeirProcess;
  readonly srtPort: number;
}

/** The two nodes in the shipped files. */
type BalancedNodes = Readonly<Record<"weir-a" | "weir-b", BalancedNode>>;

/** A program with a configuration of `deploy/`, in which addresses and ports are those of a test. */
abstract class Balancer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #log = "";

  protected constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    for (const output of [child.stdout, child.stderr])
      output?.on("data", (chunk) => {
        this.#log = (this.#log + chunk).slice(-LOG_CHARACTERS_KEPT);
      });
  }

  /** What it said so far. */
  get log(): string {
    return this.#log;
  }

  protected async until(isReady: () => Promise<boolean>): Promise<void> {
    try {
      await vi.waitUntil(async () => this.#child.exitCode !== null || (await isReady()), {
        timeout: 15_000,
        interval: 50,
      });
      if (this.#child.exitCode !== null) throw new Error(`it did not start: ${this.log}`);
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, "exit");
      this.#child.kill("SIGTERM");
      await exited;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The distribution's HAProxy with `deploy/haproxy/haproxy.cfg`. */
export class Haproxy extends Balancer {
  readonly httpPort: number;
  readonly rtmpPort: number;

  private constructor(child: ChildProcess, folder: string, httpPort: number, rtmpPort: number) {
    super(child, folder);
    this.httpPort = httpPort;
    this.rtmpPort = rtmpPort;
  }

  static async start(nodes: BalancedNodes, ports: { readonly http: number; readonly rtmp: number }): Promise<Haproxy> {
    const folder = await mkdtemp(join(tmpdir(), "weir-haproxy-"));
    const path = join(folder, "haproxy.cfg");
    const changes: [string, string][] = [
      ["bind :8080", `bind 127.0.0.1:${ports.http}`],
      ["bind :1935", `bind 127.0.0.1:${ports.rtmp}`],
    ];
    for (const [name, { weir }] of Object.entries(nodes))
      changes.push(
        [`${name}:8080`, `127.0.0.1:${weir.httpPort}`],
        // Nodes of one machine differ in the port that is asked whether they are ready.
        [`${name}:1935`, `127.0.0.1:${weir.rtmpPort} port ${weir.httpPort}`],
      );
    await writeFile(path, changed(await readFile(new URL("haproxy/haproxy.cfg", DEPLOY), "utf8"), changes));
    const child = spawn(HAPROXY, ["-db", "-f", path], { stdio: ["ignore", "pipe", "pipe"] });
    const haproxy = new Haproxy(child, folder, ports.http, ports.rtmp);
    await haproxy.until(() => isAnswered(`${haproxy.url}/readyz`));
    return haproxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.httpPort}`;
  }
}

/** The distribution's nginx with `deploy/nginx/weir-srt.conf`, and that for HTTP and RTMP. */
export class NginxBalancer extends Balancer {
  readonly srtPort: number;
  readonly httpPort: number;
  readonly rtmpPort: number;

  private constructor(child: ChildProcess, folder: string, srtPort: number, httpPort: number, rtmpPort: number) {
    super(child, folder);
    this.srtPort = srtPort;
    this.httpPort = httpPort;
    this.rtmpPort = rtmpPort;
  }

  static async start(nodes: BalancedNodes): Promise<NginxBalancer> {
    const folder = await mkdtemp(join(tmpdir(), "weir-nginx-"));
    const [srtPort, httpPort, rtmpPort] = [await freePort(), await freePort(), await freePort()];
    const toSrt: [string, string][] = [["listen 8890 udp;", `listen 127.0.0.1:${srtPort} udp;`]];
    const toHttp: [string, string][] = [
      ["listen 8080;", `listen 127.0.0.1:${httpPort};`],
      ["listen 1935;", `listen 127.0.0.1:${rtmpPort};`],
    ];
    for (const [name, { weir, srtPort: port }] of Object.entries(nodes)) {
      toSrt.push([`${name}:8890`, `127.0.0.1:${port}`]);
      toHttp.push([`${name}:8080`, `127.0.0.1:${weir.httpPort}`], [`${name}:1935`, `127.0.0.1:${weir.rtmpPort}`]);
    }
    const shipped = (file: string) => readFile(new URL(`nginx/${file}`, DEPLOY), "utf8");
    const srt = changed(await shipped("weir-srt.conf"), toSrt);
    const [http = "", rtmp = ""] = changed(await shipped("weir-balancer.conf"), toHttp).split(
      "# Outside the http block:",
    );
    // One stream block for both.
    const streams = srt.replace(/\}\s*$/, `${rtmp.replace(/^#/gm, "").replace("stream {", "")}`);
    await writeFile(
      join(folder, "nginx.conf"),
      `load_module ${STREAM_MODULE}; ${process.getuid?.() === 0 ? "user root;" : ""}
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr;
events { worker_connections 512; }
http { client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
${http}
}
${streams}`,
    );
    const child = spawn(NGINX, ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: ["ignore", "pipe", "pipe"] });
    const nginx = new NginxBalancer(child, folder, srtPort, httpPort, rtmpPort);
    await nginx.until(() => isAnswered(`http://127.0.0.1:${httpPort}/readyz`));
    return nginx;
  }
}

/** Throws for a text that the file does not have: the test would be about something else. */
function changed(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((so, [shipped, here]) => {
    if (!so.includes(shipped)) throw new Error(`the configuration has no ${JSON.stringify(shipped)}`);
    return so.replaceAll(shipped, here);
  }, text);
}

const isAnswered = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
