import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { Cli } from "../cli.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { wholeNumber } from "../option-values.ts";

interface BroadcastOptions {
  readonly seconds?: number;
  readonly loop?: boolean;
  readonly to?: string;
}

const TEST_SECONDS = 60;
const LIVE_WITHIN_MS = 30_000;
const LOOK_MS = 250;

/** `weir broadcast` */
export function broadcastCommand(program: Command): void {
  program
    .command("broadcast")
    .description(
      "send a file to a stream over RTMP; without a file, the server sends a test picture with a clock and a tone",
    )
    .argument("<stream>", "id or name")
    .argument("[file]", "with H.264 video and AAC sound, such as MP4, MKV, MOV, TS or FLV")
    .option("--seconds <count>", "stop after so long; a test picture lasts 60 s by default", wholeNumber(1, 3600))
    .option("--loop", "repeat the file")
    .option("--to <address>", "RTMP address of the server without the key, if not the one that it gives")
    .action(async (which: string, file: string | undefined, options: BroadcastOptions, command: Command) => {
      const cli = new Cli(command);
      const { id, playbackId, streamKey } = await cli.stream(which);
      if (file === undefined) {
        const seconds = options.seconds ?? TEST_SECONDS;
        await cli.client.streams.testBroadcast(id, { seconds });
        await untilLive(cli, id);
        const watch = `${cli.server}/watch/${playbackId}`;
        return cli.print.result({ id, playbackId, seconds, watch }, `Live for ${seconds} s: ${watch}`);
      }
      const [ingest] = await cli.client.ingest.list();
      const to = options.to ?? ingest?.ingests.rtmp;
      if (to === undefined || streamKey === undefined)
        throw new CliError("this key does not show the stream key: use one with full access", EXIT.refused);
      const { publishFile } = await import("../publish-file.ts");
      const stopping = new AbortController();
      process.once("SIGINT", () => stopping.abort());
      const sent = await publishFile({
        file,
        url: `${to}/${streamKey}`,
        shownUrl: to,
        seconds: options.seconds,
        loop: options.loop === true,
        signal: stopping.signal,
        onLive: () => cli.note(`Live: ${cli.server}/watch/${playbackId}`),
        onProgress: (fraction) => cli.progress.show("broadcasting", fraction),
      }).finally(() => cli.progress.clear());
      cli.print.result({ id, playbackId, seconds: sent }, `Sent ${Math.round(sent)} s.`);
    });
}

async function untilLive(cli: Cli, id: string): Promise<void> {
  const deadline = Date.now() + LIVE_WITHIN_MS;
  while ((await cli.client.streams.get(id)).status.state !== "live") {
    if (Date.now() > deadline)
      throw new CliError(`the test picture did not arrive within ${LIVE_WITHIN_MS / 1000} s: see the server's log`);
    await sleep(LOOK_MS);
  }
}
