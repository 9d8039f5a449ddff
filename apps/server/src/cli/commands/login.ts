import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { WeirClient } from "@weir/client";
import type { Command } from "commander";
import { Cli, originOf } from "../cli.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { removeLogin, writeLogin } from "../login-file.ts";

/** `weir login`, `weir logout`, `weir whoami`. */
export function loginCommands(program: Command): void {
  program
    .command("login")
    .description("remember a server and an API key, read from the terminal or standard input")
    .argument("[server]", "its address, such as https://video.example.com")
    .action(async (given: string | undefined, _options, command: Command) => {
      const cli = new Cli(command);
      const server = given === undefined ? cli.server : originOf(given);
      const apiKey = (await readKey(server)).trim();
      if (apiKey === "") throw new CliError("no API key was given", EXIT.usage);
      const { name = "" } = (await new WeirClient({ baseUrl: server, apiKey }).account.get()) as { name?: string };
      const path = writeLogin(process.env, { server, apiKey });
      cli.print.result({ server, path }, `Logged in to ${server}${name && ` as ${name}`}. The key is in ${path}.`);
    });

  program
    .command("logout")
    .description("forget the server and the key; the key stays valid")
    .action((_options, command: Command) => {
      removeLogin(process.env);
      new Cli(command).print.result({}, "Logged out.");
    });
}

/** Never an argument: those are in the list of processes, and in the shell's history. */
async function readKey(server: string): Promise<string> {
  if (process.stdin.isTTY !== true) return process.env.WEIR_API_KEY || (await text(process.stdin));
  process.stderr.write(`API key for ${server}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
