import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Command } from "commander";
import { Cli } from "../cli.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { megabytes, settingsOfServer } from "../server-settings.ts";

interface RestoreOptions {
  readonly drill?: boolean;
  readonly in: string;
}

/** `weir backup`, `weir restore`. Both work on this machine, with the settings of the server in the environment. */
export function backupCommands(program: Command): void {
  program
    .command("backup")
    .description("copy a server's data into a folder, while it runs or not; run it again to bring the copy up to date")
    .argument("<folder>", "on another disk, best of another machine")
    .option("--without-objects", "recordings and assets stay in their bucket alone")
    .option("--verify", "instead, read the backup in the folder and compare every hash")
    .action(async (to: string, options: { withoutObjects?: boolean; verify?: boolean }, command: Command) => {
      const cli = new Cli(command);
      const { inWords } = await import("../../roles/backup/in-words.ts");
      if (options.verify) {
        const { verifyBackup } = await import("../../roles/backup/verify-backup.ts");
        const manifest = await verifyBackup(to, (done, of) => cli.progress.show("verifying", done / of))
          .catch(inWords("weir backup --verify"))
          .finally(() => cli.progress.clear());
        return cli.print.result(manifest, `The backup of ${timeOf(manifest.takenAt)} is whole.`);
      }
      const { backUp } = await import("../../roles/backup/backup.ts");
      const manifest = await backUp({
        ...(await settingsOfServer()),
        to,
        isWithoutObjects: options.withoutObjects === true,
        weir: version(),
        onProgress: (what, done) => cli.progress.count(`copying ${what}`, done),
      })
        .catch(inWords("weir backup"))
        .finally(() => cli.progress.clear());
      const { objects, rows, takenAt } = manifest;
      const of = objects === null ? "without objects" : `${objects.count} objects (${megabytes(objects.bytes)})`;
      cli.print.result(
        summaryOf(manifest),
        `Backed up ${rows.tables.length} tables and ${of}, as of ${timeOf(takenAt)}.`,
      );
    });

  program
    .command("restore")
    .description("put a backup into an empty data folder, and the database and bucket of the settings, if any")
    .argument("<folder>", "of the backup")
    .option("--drill", "instead, restore into a temporary folder, play what is there, and remove it")
    .option("--in <folder>", "with --drill: where the temporary folder is made", tmpdir())
    .action(async (from: string, options: RestoreOptions, command: Command) => {
      const cli = new Cli(command);
      const onProgress = (what: string, done: number, of: number) => cli.progress.show(`restoring ${what}`, done / of);
      const settings = { ...(await settingsOfServer()), from, onProgress };
      if (options.drill) return practise(cli, { ...settings, in: options.in });
      const { restore } = await import("../../roles/backup/restore.ts");
      const { inWords } = await import("../../roles/backup/in-words.ts");
      const manifest = await restore(settings)
        .catch(inWords("weir restore"))
        .finally(() => cli.progress.clear());
      const next = `Start the server with the same settings: weir start`;
      cli.print.result(
        summaryOf(manifest),
        `Restored the backup of ${timeOf(manifest.takenAt)} into ${settings.config.dataDir}. ${next}`,
      );
    });
}

async function practise(
  cli: Cli,
  settings: Parameters<typeof import("../../roles/backup/drill.ts").drill>[0],
): Promise<void> {
  const { drill } = await import("../../roles/backup/drill.ts");
  const report = await drill(settings).finally(() => cli.progress.clear());
  const { streams, recordings, assets, played, failures, takenAt } = report;
  cli.print.result(
    report,
    [
      `The backup of ${timeOf(takenAt)} starts (streams: ${streams}, recordings: ${recordings}, assets: ${assets}). Played: ${played - failures.length} of the newest ${played}.`,
      ...failures,
    ].join("\n"),
  );
  if (failures.length > 0) throw new CliError("the drill failed", EXIT.failed);
}

const summaryOf = ({
  id,
  takenAt,
  weir,
  objects,
}: {
  id: string;
  takenAt: number;
  weir: string;
  objects: unknown;
}) => ({ id, takenAt, weir, objects });
const timeOf = (ms: number): string => new Date(ms).toISOString();

function version(): string {
  return (JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string })
    .version;
}
