import { flushCompileCache } from "node:module";
import { DatabaseClock, systemClock } from "../platform/clock.ts";
import { createLog } from "../platform/log.ts";
import { StartupError } from "../platform/startup-error.ts";
import { banner } from "./banner.ts";
import { readCommandLine } from "./command-line.ts";
import { readConfig, unknownSettings } from "./config.ts";

/** The whole way out; who runs us kills after 10 s. */
const CLOSE_WITHIN_MS = 9_500;
/** A terminal signals every process of `npm start`, and npm then passes the signal on: both are one request. */
const SAME_REQUEST_MS = 500;
/** By custom, for arguments that a program does not know. */
const WRONG_USAGE = 2;

const command = readCommandLine(process.argv.slice(2));
if (command.kind !== "start") {
  const isRefused = command.kind === "refuse";
  process[isRefused ? "stderr" : "stdout"].write(isRefused ? `weir: ${command.reason}\n` : command.text);
  process.exit(isRefused ? WRONG_USAGE : 0);
}

// The clock's timers keep no process alive, and a start that fails waits for some before it can say why. Each way out is an explicit one.
setInterval(() => {}, 2 ** 30);

try {
  await run();
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`weir: ${error.message}\n`);
  process.exit(1);
}

async function run(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel, readable: process.stderr.isTTY === true }, process.stderr);
  for (const sentence of unknownSettings(process.env)) log.warn(sentence);

  const leaving = new AbortController();
  const settings = { config, clock: new DatabaseClock(systemClock), log, signal: leaving.signal };
  const hasProcesses = config.mediaProcesses > 1 && config.roles.includes("media");
  const starting = hasProcesses
    ? import("./processes/server-processes.ts").then(({ startServerProcesses }) => startServerProcesses(settings))
    : Promise.all([import("./weir.ts"), import("./start-again.ts")]).then(([{ startWeir }, { startAgainWhileAway }]) =>
        startAgainWhileAway(() => startWeir(settings), settings),
      );
  let leftAt: number | null = null;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (leftAt !== null && systemClock.monotonic() - leftAt < SAME_REQUEST_MS) return;
      // A second request: exit at once; the database then stops by itself.
      if (leftAt !== null) process.exit(1);
      leftAt = systemClock.monotonic();
      leaving.abort();
      log.info({ signal }, "stopping: broadcasts and sessions are ended; a second signal exits at once");
      systemClock.after(CLOSE_WITHIN_MS, () => {
        log.fatal("not everything closed in time");
        process.exit(1);
      });
      starting
        .then(
          (weir) => weir.close(),
          (error: unknown) => {
            // A start that was called off has closed what it had opened.
            if (error !== leaving.signal.reason && !(error instanceof StartupError)) throw error;
          },
        )
        .then(
          () => {
            log.info("stopped");
            process.exit(0);
          },
          (error: unknown) => {
            log.fatal({ err: error }, "closing failed");
            process.exit(1);
          },
        );
    });
  }
  const weir = await starting.catch((error: unknown) => {
    if (leaving.signal.aborted) return null;
    throw error;
  });
  if (weir === null || leaving.signal.aborted) return;
  process.stdout.write(banner(weir.facts));
  flushCompileCache();
}
