import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { commandBlocks } from "./support/command-blocks.ts";
import { runCommands } from "./support/run-commands.ts";

const arena = openArena();
const blocks = commandBlocks().filter(({ notRun, script }) => notRun === null && /^ffmpeg /m.test(script));
const VIDEO = "-f lavfi -i testsrc2=size=320x180:rate=30 -f lavfi -i sine -t 4 -pix_fmt yuv420p -g 60 -y video.mp4";

/** Ends by itself, and prints which stream it published. */
const FOR_THREE_SECONDS = `ffmpeg() { command ffmpeg -loglevel error "\${@:1:$#-1}" -t 3 "\${@: -1}" && echo "published \${@: -1}"; }`;

test.each(blocks)("ffmpeg publishes with the commands at $place", async (block) => {
  const cwd = await mkdtemp(join(tmpdir(), "weir-docs-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await promisify(execFile)("ffmpeg", VIDEO.split(" "), { cwd });
  const { client } = arena.weir;
  const stream = await client.streams.create({ name: "from the documents", record: true, profiles: [] });
  const printed = await runCommands(block, arena.weir, stream, { functions: FOR_THREE_SECONDS, cwd });
  const [, key = ""] = /published .*\/(.+)/.exec(printed) ?? [];
  const [published] = (await client.streams.list()).items.filter(({ streamKey }) => streamKey === key);
  await expect
    .poll(async () => (await client.sessions.ofStream(published?.id ?? "")).items[0]?.sourceSegments ?? 0)
    .toBeGreaterThan(0);
});
