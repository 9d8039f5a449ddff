import type { StreamEvent } from "@weir/client";
import type { Command } from "commander";
import { Cli } from "../cli.ts";
import { duration, names } from "../option-values.ts";

interface TailOptions {
  readonly since?: number;
  readonly type?: readonly string[];
  readonly follow: boolean;
}

/** `weir events …` */
export function eventCommands(program: Command): void {
  program
    .command("events")
    .description("read the event log of a stream")
    .command("tail")
    .description("print the events of a stream as they happen, until you press Ctrl-C")
    .argument("<stream>", "id or name")
    .option("--since <time>", "begin with the events of the last 30s, 10m, 2h or 1d", duration)
    .option("--type <names>", "only these types, with commas between them", names)
    .option("--no-follow", "with --since: stop at the present")
    .action(async (which: string, options: TailOptions, command: Command) => {
      const cli = new Cli(command);
      const { id } = await cli.stream(which);
      const now = Date.now();
      const range = options.since === undefined ? {} : { from: now - options.since };
      const events = cli.client.streams.events(id, {
        ...range,
        ...(!options.follow && { from: now, ...range, to: now }),
        onGap: () => cli.note("Events are missing here: the server no longer keeps them."),
      });
      for await (const event of events) {
        if (options.type && !options.type.includes(event.type)) continue;
        cli.print.line(cli.print.isJson ? JSON.stringify(event) : sentenceOf(cli, event));
      }
    });
}

function sentenceOf({ print }: Cli, { type, timestamp, id: _, streamId: __, v: ___, ...rest }: StreamEvent): string {
  const time = new Date(timestamp).toISOString().slice(11, 23);
  return `${print.style("dim", time)}  ${print.style("bold", type.padEnd(20))}  ${JSON.stringify(rest)}`;
}
