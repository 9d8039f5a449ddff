import type { Command } from "commander";
import type { MoveReport } from "../../roles/backup/move.ts";
import { Cli } from "../cli.ts";
import { megabytes, settingsOfServer } from "../server-settings.ts";

/** `weir move`. Works on this machine, with the settings of the new server in the environment. */
export function moveCommand(program: Command): void {
  program
    .command("move")
    .description(
      "move a data folder to the PostgreSQL and the bucket of the settings, into a new data folder; the old one stays as it is",
    )
    .argument("<folder>", "the data folder of a server that is stopped, with its database and objects")
    .option("--ahead", "copy only recordings and assets, while the server may still run")
    .action(async (from: string, { ahead = false }: { ahead?: boolean }, command: Command) => {
      const cli = new Cli(command);
      const [{ move }, { inWords }] = await Promise.all([
        import("../../roles/backup/move.ts"),
        import("../../roles/backup/in-words.ts"),
      ]);
      const report = await move({
        ...(await settingsOfServer()),
        from,
        isAhead: ahead,
        onProgress: (what, done) => cli.progress.count(`moving ${what}`, done),
      })
        .catch(inWords("weir move"))
        .finally(() => cli.progress.clear());
      cli.print.result(report, inLines(report));
    });
}

function inLines({ from, objects, tables, files, left, settings }: MoveReport): string {
  const copied = `${objects.count} objects (${megabytes(objects.bytes)})`;
  const strangers = left.length === 0 ? [] : [`Not Weir's, and left in ${from}: ${left.join(", ")}`];
  if (tables === null)
    return [`Copied ${copied}. Now stop the server, and repeat the command without --ahead.`, ...strangers].join("\n");
  const lines = settings.map(({ variable, value }) =>
    value === null ? `# ${variable}=   as it was for this command` : `${variable}=${value}`,
  );
  return [
    `Moved ${tables} tables, ${copied} and ${files} files. ${from} is as it was: keep it until the new server plays everything.`,
    ...strangers,
    "",
    "From now on start the server with these settings, beside those that it had:",
    "",
    ...lines,
    "",
    "For more nodes, give each the same settings but a new WEIR_DATA_DIR, and all WEIR_CLUSTER_ADDRESS=auto.",
  ].join("\n");
}
