import { readFileSync } from "node:fs";
import { Command } from "commander";
import { assetCommands } from "./commands/assets.ts";
import { backupCommands } from "./commands/backup.ts";
import { broadcastCommand } from "./commands/broadcast.ts";
import { capacityCommand } from "./commands/capacity.ts";
import { clipCommand } from "./commands/clip.ts";
import { completionCommands } from "./commands/completion.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { eventCommands } from "./commands/events.ts";
import { keyCommands } from "./commands/keys.ts";
import { loginCommands } from "./commands/login.ts";
import { moveCommand } from "./commands/move.ts";
import { startCommand } from "./commands/start.ts";
import { streamCommands } from "./commands/streams.ts";
import { webhookCommands } from "./commands/webhooks.ts";

/** Every command. Each adds itself and its options; what it needs besides the client is imported when it runs. */
export function buildProgram(): Command {
  const program = new Command("weir")
    .description("Weir, a self-hosted video platform: run a server, and control one.")
    .version(version(), "-v, --version", "print the version")
    .helpOption("-h, --help", "print this text")
    .helpCommand("help [command]", "print the help of a command")
    .option("--json", "print results as JSON")
    .option("--server <address>", "the server to work with (default: that of weir login)")
    .showHelpAfterError("(add --help for the options)")
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "weir: ")) })
    .exitOverride();
  for (const add of [
    startCommand,
    loginCommands,
    streamCommands,
    broadcastCommand,
    assetCommands,
    clipCommand,
    eventCommands,
    webhookCommands,
    keyCommands,
    doctorCommand,
    capacityCommand,
    backupCommands,
    moveCommand,
    completionCommands,
  ])
    add(program);
  return program;
}

function version(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
