import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "../clock.ts";
import { PROBE_FILE } from "../data-folder.ts";
import type { Log } from "../log.ts";
import { type Confinement, type ConfinementNeeds, confinements, UNCONFINED } from "./confinement.ts";

const CHILD = fileURLToPath(new URL("./confinement-probe-child.ts", import.meta.url));
/** A busy machine starts a process slowly; the probe does not wait for one that hangs. */
const PROBE_MS = 10_000;

export interface ConfinementSettings extends ConfinementNeeds {
  readonly dataFolder: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The forbidden actions that a child could do; null if it did not start. */
export interface Breaches {
  readonly readsFiles: boolean;
  /** Write to the server's own files. */
  readonly changesCode: boolean;
  readonly reachesNetwork: boolean;
}

/**
 * The strongest confinement that works on this machine, found by starting a child in it that tries to read a file of the data folder, to write
 * to the server's code and to connect. One log line says which limits work. Never rejects.
 */
export async function findConfinement(settings: ConfinementSettings): Promise<Confinement> {
  const { dataFolder, clock, log } = settings;
  const secret = join(dataFolder, PROBE_FILE);
  const server = createServer((socket) => socket.destroy());
  try {
    await writeFile(secret, "for its owner alone", { mode: 0o600 });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    for (const confinement of confinements(settings)) {
      const breaches = await tryConfinement(confinement, secret, port, clock);
      if (!breaches) continue;
      tell(confinement, breaches, log);
      return confinement;
    }
  } catch (error) {
    log.warn({ err: error }, "could not determine how to confine decoding children");
  } finally {
    server.close();
    await rm(secret, { force: true });
  }
  log.warn(
    "decoding children are not confined: a fault in a decoder is a fault of the server; see docs/4-operate/confinement.md",
  );
  return UNCONFINED;
}

/** The forbidden actions that a child can still do under this confinement; null if it does not start. */
export function tryConfinement(
  { prefix }: Confinement,
  secret: string,
  port: number,
  clock: Clock,
): Promise<Breaches | null> {
  const [program = process.execPath, ...args] = [...prefix, process.execPath, CHILD, secret, String(port)];
  const child = spawn(program, args, {
    cwd: "/",
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.on("data", (bytes: Buffer) => {
    said += bytes;
  });
  const deadline = clock.after(PROBE_MS, () => child.kill("SIGKILL"));
  return new Promise((resolve) => {
    child.on("error", () => resolve(null));
    child.once("close", () => {
      deadline.cancel();
      resolve(breachesIn(said));
    });
  });
}

/** Null if the child's report was cut short. */
function breachesIn(said: string): Breaches | null {
  try {
    return JSON.parse(said) as Breaches;
  } catch {
    return null;
  }
}

function tell({ bounds }: Confinement, { readsFiles, changesCode, reachesNetwork }: Breaches, log: Log): void {
  const missing = [
    ...(readsFiles ? ["they can read the data folder"] : []),
    ...(changesCode ? ["they can change files of the server's user"] : []),
    ...(reachesNetwork ? ["they can reach the network"] : []),
  ];
  if (missing.length === 0) return log.info({ bounds }, "decoding children are confined");
  log.warn({ bounds, missing }, "decoding children are confined in part; see docs/4-operate/confinement.md");
}
