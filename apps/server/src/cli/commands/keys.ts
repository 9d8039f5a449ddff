import type { ApiToken } from "@weir/client";
import type { Command } from "commander";
import { Cli } from "../cli.ts";

/** `weir keys …`: with a key that may sign in to the dashboard, as only a signed-in user manages keys. */
export function keyCommands(program: Command): void {
  const keys = program.command("keys").description("list, create and delete API keys");

  keys
    .command("list")
    .description("list the API keys of the project")
    .action(async (_options, command: Command) => {
      const cli = new Cli(command);
      const client = await cli.signedIn();
      const found: ApiToken[] = [];
      for await (const key of client.apiTokens.each({ limit: 100 })) found.push(key);
      cli.print.table(
        found,
        [
          { title: "ID", of: ({ id }) => id },
          { title: "BEGINS WITH", of: ({ keyPrefix }) => keyPrefix },
          { title: "LAST USED", of: ({ lastSeen }) => lastSeen && new Date(lastSeen).toISOString().slice(0, 16) },
          { title: "NAME", of: ({ name }) => name },
        ],
        "No keys.",
      );
    });

  keys
    .command("create")
    .description("create an API key; it is printed once")
    .argument("<name>")
    .option("--read-only", "it may only read")
    .action(async (name: string, options: { readOnly?: boolean }, command: Command) => {
      const cli = new Cli(command);
      const access = { rules: [{ resources: ["*"], methods: ["get" as const] }] };
      const client = await cli.signedIn();
      const made = await client.apiTokens.create({ name, ...(options.readOnly && { access }) });
      cli.print.result(made, made.key);
      if (!cli.print.isJson) cli.note("The key is shown only now. Keep it in a password manager.");
    });

  keys
    .command("delete")
    .description("delete an API key: its next request is refused")
    .argument("<id>")
    .action(async (id: string, _options, command: Command) => {
      const cli = new Cli(command);
      await (await cli.signedIn()).apiTokens.delete(id);
      cli.print.result({ id }, `Deleted the key ${id}.`);
    });
}
