import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StartupError } from "../platform/startup-error.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const ENDS_WITH_US = new URL("private-server-child.ts", import.meta.url).href;
const READY_WITHIN_MS = 120_000;
const STOPPED_WITHIN_MS = 20_000;

export interface PrivateServerOptions {
  readonly dataDir: string;
  readonly apiKey: string;
  /** Further settings. */
  readonly settings: Readonly<Record<string, string>>;
  /** Begins the sentence of a failed start, such as "the restored server". */
  readonly name: string;
  /** Words before the program on its command line, such as `taskset -c 0`. */
  readonly prefix?: readonly string[];
}

/** A server of a command's own, which only this machine reaches. */
export interface PrivateServer {
  readonly pid: number;
  readonly url: string;
  /** `rtmp://127.0.0.1:{port}/live`, to be followed by a stream key. */
  readonly rtmpUrl: string;
  stop(): Promise<void>;
}

/** Throws `StartupError` with what it said if it does not become ready within two minutes. */
export async function startPrivateServer(options: PrivateServerOptions): Promise<PrivateServer> {
  const { name, prefix = [] } = options;
  const [port, rtmpPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const [program = process.execPath, ...args] = [...prefix, process.execPath, "--import", ENDS_WITH_US, MAIN];
  const child = spawn(program, args, {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {
      PATH: process.env.PATH,
      WEIR_DATA_DIR: options.dataDir,
      WEIR_API_KEY: options.apiKey,
      WEIR_PUBLIC_URL: url,
      WEIR_HOST: "127.0.0.1",
      WEIR_HTTP_PORT: String(port),
      WEIR_RTMP_PORT: String(rtmpPort),
      WEIR_METRICS_PORT: "off",
      WEIR_WEBRTC_PORT: "off",
      WEIR_STUN_PORT: "off",
      WEIR_SRT_PORT: "off",
      WEIR_LOG_LEVEL: "error",
      ...options.settings,
    },
  });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said = (said + chunk).slice(-2_000);
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", ({ message }) => {
      said = message;
      resolve();
    });
  });
  let isGone = false;
  exited.then(() => {
    isGone = true;
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS);
    await exited.finally(() => clearTimeout(late));
  };
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await isReady(url))) {
    if (!isGone && Date.now() < deadline) {
      await sleep(100);
      continue;
    }
    await stop();
    throw new StartupError(
      `${name} does not start: ${said.trim() || `it was not ready within ${READY_WITHIN_MS / 1000} s`}`,
    );
  }
  return { pid: child.pid ?? 0, url, rtmpUrl: `rtmp://127.0.0.1:${rtmpPort}/live`, stop };
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
