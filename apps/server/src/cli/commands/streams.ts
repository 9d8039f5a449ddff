import type { NewStream, Stream } from "@weir/client";
import type { Command } from "commander";
import { Cli } from "../cli.ts";
import { wholeNumber } from "../option-values.ts";

/** `weir streams …` */
export function streamCommands(program: Command): void {
  const streams = program.command("streams").description("list, create and control streams");

  streams
    .command("list")
    .description("list streams, most recently live first")
    .option("--live", "only streams that are live")
    .option("--name <text>", "only streams whose name contains this")
    .option("--limit <count>", "at most so many", wholeNumber(1, 100_000), 100)
    .action(async (options: { live?: boolean; name?: string; limit: number }, command: Command) => {
      const cli = new Cli(command);
      const found: Stream[] = [];
      const filter = { active: options.live, name: options.name, limit: Math.min(options.limit, 1000) };
      for await (const stream of cli.client.streams.each(filter)) {
        found.push(stream);
        if (found.length >= options.limit) break;
      }
      // A list is for looking, and stream keys are for publishing.
      const rows = found.map(({ streamKey: _, ...shown }) => shown);
      cli.print.table(
        rows,
        [
          { title: "ID", of: ({ id }) => id },
          { title: "STATE", of: ({ suspended, status }) => (suspended ? "suspended" : status.state) },
          { title: "PLAYBACK ID", of: ({ playbackId }) => playbackId },
          { title: "NAME", of: ({ name }) => name },
        ],
        "No streams.",
      );
    });

  streams
    .command("create")
    .description("create a stream, and print where to publish and watch")
    .argument("<name>")
    .option("--record", "record every broadcast")
    .option("--source-only", "without renditions: viewers get what the broadcaster sends")
    .option("--private", "viewers need a token that you sign")
    .action(
      async (
        name: string,
        options: { record?: boolean; sourceOnly?: boolean; private?: boolean },
        command: Command,
      ) => {
        const cli = new Cli(command);
        const wanted: NewStream = {
          name,
          ...(options.record && { record: true }),
          ...(options.sourceOnly && { profiles: [] }),
          ...(options.private && { playbackPolicy: { type: "jwt" } }),
        };
        await showStream(cli, await cli.client.streams.create(wanted), true);
      },
    );

  streams
    .command("show")
    .description("print a stream: its state, addresses and open issues")
    .argument("<stream>", "id or name")
    .option("--key", "with the stream key")
    .action(async (which: string, options: { key?: boolean }, command: Command) => {
      const cli = new Cli(command);
      await showStream(cli, await cli.stream(which), options.key === true);
    });

  streams
    .command("end")
    .description("end the broadcast; the broadcaster may publish again")
    .argument("<stream>", "id or name")
    .action(async (which: string, _options, command: Command) => {
      const cli = new Cli(command);
      const { id, name } = await cli.stream(which);
      await cli.client.streams.terminate(id);
      cli.print.result({ id }, `Ended the broadcast of ${name}.`);
    });

  streams
    .command("rotate-key")
    .description("replace the stream key; a broadcaster with the old one is disconnected")
    .argument("<stream>", "id or name")
    .action(async (which: string, _options, command: Command) => {
      const cli = new Cli(command);
      const { id } = await cli.stream(which);
      await showStream(cli, await cli.client.streams.rotateKey(id), true);
    });

  streams
    .command("delete")
    .description("delete a stream; its recordings keep playing")
    .argument("<stream>", "id or name")
    .option("--recordings", "delete its recordings, too")
    .action(async (which: string, options: { recordings?: boolean }, command: Command) => {
      const cli = new Cli(command);
      const { id, name } = await cli.stream(which);
      await cli.client.streams.delete(id, { recordings: options.recordings });
      cli.print.result({ id }, `Deleted ${name}.`);
    });
}

async function showStream(cli: Cli, stream: Stream, withKey: boolean): Promise<void> {
  const { streamKey, ...shown } = stream;
  const [ingest] = await cli.client.ingest.list();
  const { rtmp, webrtc, srt } = ingest?.ingests ?? {};
  const key = withKey ? streamKey : "<stream key>";
  const { issues = [] } = stream.status;
  cli.print.facts(withKey ? stream : shown, [
    ["Stream", `${stream.name} (${stream.suspended ? "suspended" : stream.status.state})`],
    ["ID", stream.id],
    ["Stream key", withKey ? streamKey : null],
    ["RTMP", rtmp && `${rtmp}/${key}`],
    ["WHIP", webrtc && `${webrtc}/${key}`],
    ["SRT", srt && `${srt} (stream id: ${key})`],
    ["Playback ID", stream.playbackId],
    ["HLS", ingest && `${ingest.playback}/${stream.playbackId}/index.m3u8`],
    ["Watch", `${cli.server}/watch/${stream.playbackId}`],
    ...issues.map(({ sentence, remedy }) => ["Issue", `${sentence} ${remedy}`] as const),
  ]);
}
