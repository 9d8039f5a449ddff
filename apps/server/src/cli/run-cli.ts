import { CommanderError } from "commander";
import { EXIT, failureOf } from "./exit-codes.ts";
import { buildProgram } from "./program.ts";

/** Run a command line, without the program's name. Resolves with the exit code; every failure has been reported then. */
export async function runCli(args: readonly string[]): Promise<number> {
  // A reader that has seen enough, as in `weir streams list | head`, is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(EXIT.ok);
    throw error;
  });
  // The clock's timers keep no process alive, and closing a database waits for some.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await buildProgram().parseAsync([...args], { from: "user" });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    // Commander has printed its own message by now. Help and version end with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const failure = failureOf(error);
    if (failure === null) throw error;
    process.stderr.write(`weir: ${failure.message}\n`);
    return failure.exitCode;
  } finally {
    clearInterval(alive);
  }
}
