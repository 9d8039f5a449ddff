import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { NGINX } from "./nginx-edge.ts";
import { freePort } from "./weir-process.ts";

const MODULE = process.env.WEIR_TEST_NGINX_RTMP ?? "/usr/lib/nginx/modules/ngx_rtmp_module.so";

/** The distribution's nginx with its RTMP module: accepts and records any broadcast. It can be killed and restarted. */
export class NginxRtmp implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  #child: ChildProcess | null = null;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  static async start(): Promise<NginxRtmp> {
    if (!existsSync(NGINX) || !existsSync(MODULE)) {
      throw new Error(
        `there is no ${NGINX} or no ${MODULE}: install them (apt-get install nginx libnginx-mod-rtmp), or name them in WEIR_TEST_NGINX and WEIR_TEST_NGINX_RTMP`,
      );
    }
    const nginx = new NginxRtmp(await mkdtemp(join(tmpdir(), "weir-nginx-rtmp-")), await freePort());
    await writeFile(join(nginx.#folder, "nginx.conf"), nginx.#configuration());
    await nginx.restart();
    return nginx;
  }

  urlOf(key: string): string {
    return `rtmp://127.0.0.1:${this.#port}/live/${key}`;
  }

  /** Path of the recording with this key. */
  recordingOf(key: string): string {
    return join(this.#folder, `${key}.flv`);
  }

  async restart(): Promise<void> {
    this.#child = spawn(NGINX, ["-p", this.#folder, "-c", join(this.#folder, "nginx.conf")], { stdio: "ignore" });
    await vi.waitUntil(() => this.#answers(), { timeout: 10_000, interval: 50 });
  }

  /** Kills it without a clean shutdown. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
  }

  /** A single process, so that a kill leaves nothing behind. */
  #configuration(): string {
    return `load_module ${MODULE}; daemon off; master_process off; pid ${this.#folder}/nginx.pid; error_log /dev/null;
events { worker_connections 64; }
rtmp { server { listen 127.0.0.1:${this.#port}; application live { live on; record all; record_path ${this.#folder}; record_unique off; } } }
`;
  }
}
