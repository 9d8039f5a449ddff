import { openAsBlob, statSync } from "node:fs";
import { basename } from "node:path";
import type { Asset, AssetFile, SourceProgress } from "@weir/client";
import type { Command } from "commander";
import { Cli } from "../cli.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { wholeNumber } from "../option-values.ts";
import { UploadNotes } from "../upload-notes.ts";

/** `weir assets …` */
export function assetCommands(program: Command): void {
  const assets = program.command("assets").description("upload files; list and delete assets");

  assets
    .command("upload")
    .description("upload files, and wait until they play; an interrupted upload continues when it is repeated")
    .argument("<file...>")
    .option("--name <text>", "name of the asset, for one file; by default the file's")
    .option("--private", "viewers need a token that you sign")
    .action(async (paths: readonly string[], options: { name?: string; private?: boolean }, command: Command) => {
      const cli = new Cli(command);
      if (options.name !== undefined && paths.length > 1) throw new CliError("--name is for one file", EXIT.usage);
      const sources = await Promise.all(
        paths.map(
          async (path): Promise<AssetFile> => ({
            name: options.name ?? basename(path),
            file: await blobOf(path),
            ...(options.private && { playbackPolicy: { type: "jwt" } }),
          }),
        ),
      );
      const notes = new UploadNotes(process.env);
      const onProgress = (all: readonly SourceProgress[]) => cli.progress.show(labelOf(all, paths), shareOf(all));
      const creation = cli.client.createAsset({ sources }, { onProgress, memory: notes });
      const made = await creation.assets.finally(() => cli.progress.clear());
      printAssets(cli, made);
    });

  assets
    .command("list")
    .description("list assets, the one changed last first")
    .option("--name <text>", "only assets whose name contains this")
    .option("--limit <count>", "at most so many", wholeNumber(1, 100_000), 100)
    .action(async (options: { name?: string; limit: number }, command: Command) => {
      const cli = new Cli(command);
      const found: Asset[] = [];
      for await (const asset of cli.client.assets.each({ name: options.name, limit: Math.min(options.limit, 1000) })) {
        found.push(asset);
        if (found.length >= options.limit) break;
      }
      printAssets(cli, found);
    });

  assets
    .command("delete")
    .description("delete an asset; it can be restored for a week")
    .argument("<id>")
    .action(async (id: string, _options, command: Command) => {
      const cli = new Cli(command);
      await cli.client.assets.delete(id);
      cli.print.result({ id }, `Deleted ${id}. It can be restored for a week.`);
    });
}

/** Fails before anything is sent. */
async function blobOf(path: string): Promise<Blob> {
  try {
    if (statSync(path).isFile()) return await openAsBlob(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(code === "ENOENT" ? `there is no file ${path}` : `cannot read ${path}: ${message}`);
  }
  throw new CliError(`${path} is not a file`);
}

function printAssets(cli: Cli, assets: readonly Asset[]): void {
  const columns = [
    { title: "ID", of: ({ id }: Asset) => id },
    { title: "STATE", of: ({ status }: Asset) => status.phase },
    { title: "PLAYBACK ID", of: ({ playbackId }: Asset) => playbackId },
    { title: "NAME", of: ({ name }: Asset) => name },
  ];
  cli.print.table(assets, columns, "No assets.");
}

const shareOf = (all: readonly SourceProgress[]): number =>
  all.reduce((sum, one) => sum + fractionOf(one), 0) / Math.max(1, all.length);

/** Half of it is the way to the server, and half what the server makes of it. */
function fractionOf(source: SourceProgress): number {
  if (source.phase === "uploading") return source.progress / 2;
  if (source.phase === "processing") return 0.5 + source.progress / 2;
  return source.phase === "failed" ? 1 : 0;
}

function labelOf(all: readonly SourceProgress[], paths: readonly string[]): string {
  const isUploading = all.some(({ phase }) => phase === "uploading" || phase === "waiting");
  const what = paths.length === 1 ? basename(paths[0] ?? "") : `${paths.length} files`;
  return `${isUploading ? "uploading" : "processing"} ${what}`;
}
