import type { Command } from "commander";

/** `weir start`: the server itself, in this process, exactly as `npm start` runs it. */
export function startCommand(program: Command): void {
  program
    .command("start")
    .description("run a server; its settings are environment variables")
    .helpOption(false)
    .allowUnknownOption()
    .argument("[options...]", "--help lists the settings")
    .action(async (options: readonly string[]) => {
      // The server reads its own arguments.
      process.argv.splice(2, process.argv.length - 2, ...options);
      await import("../../main.ts");
    });
}
