import { setTimeout as sleep } from "node:timers/promises";
import type { Asset } from "@weir/client";
import type { Command } from "commander";
import { Cli } from "../cli.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { seconds } from "../option-values.ts";

const LOOK_MS = 500;

interface ClipOptions {
  readonly from?: number;
  readonly to?: number;
  readonly last?: number;
  readonly name?: string;
}

/** `weir clip` */
export function clipCommand(program: Command): void {
  program
    .command("clip")
    .description("cut a clip from a live stream, a recording or an asset, and wait until it plays")
    .argument("<playback-id>")
    .option("--from <time>", "where it begins, from the start of the media: 90 or 1:30", seconds)
    .option("--to <time>", "where it ends; by default the end of the media, or now", seconds)
    .option("--last <time>", "instead of both: the last seconds of a live stream", seconds)
    .option("--name <text>", "name of the clip")
    .action(async (playbackId: string, options: ClipOptions, command: Command) => {
      const cli = new Cli(command);
      const { asset } = await cli.client.clips.create({
        playbackId,
        ...rangeOf(options),
        ...(options.name !== undefined && { name: options.name }),
      });
      const made = await readyAsset(cli, asset.id);
      cli.print.facts(made, [
        ["Clip", made.name],
        ["ID", made.id],
        ["Playback ID", made.playbackId],
        ["HLS", made.playbackUrl],
        ["Download", made.downloadUrl],
      ]);
    });
}

function rangeOf({ from, to, last }: ClipOptions): { startTime: number; endTime?: number } {
  if (last !== undefined) {
    if (from !== undefined || to !== undefined)
      throw new CliError("--last stands instead of --from and --to", EXIT.usage);
    return { startTime: Date.now() - last * 1000 };
  }
  if (from === undefined) throw new CliError("say where the clip begins: --from 1:30, or --last 30", EXIT.usage);
  return { startTime: Math.round(from * 1000), ...(to !== undefined && { endTime: Math.round(to * 1000) }) };
}

async function readyAsset(cli: Cli, id: string): Promise<Asset> {
  for (;;) {
    const asset = await cli.client.assets.get(id);
    const { phase, progress = 0, errorMessage } = asset.status;
    if (phase === "ready" || phase === "failed") cli.progress.clear();
    if (phase === "ready") return asset;
    if (phase === "failed") throw new CliError(`the clip ${id} failed: ${errorMessage ?? "the server gave no reason"}`);
    cli.progress.show("cutting the clip", phase === "processing" ? progress : 0);
    await sleep(LOOK_MS);
  }
}
