import { expect, onTestFinished, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { commandBlocks } from "./support/command-blocks.ts";
import { runCommands } from "./support/run-commands.ts";

const arena = shareArena();
const blocks = commandBlocks().filter(({ notRun }) => notRun === null);

/** `npm run test:peers` runs the real one. */
const NO_FFMPEG = `ffmpeg() { echo "publishes to \${@: -1}"; }`;

test.each(blocks)("the commands at $place work unchanged", async (block) => {
  const stream = await arena.weir.client.streams.create({ name: "from the documents", profiles: [] });
  onTestFinished(async () => {
    for await (const { id, name } of arena.weir.client.webhooks.each())
      if (name === "my server") await arena.weir.client.webhooks.delete(id);
  });
  const printed = await runCommands(block, arena.weir, stream, { functions: NO_FFMPEG });
  for (const [, key = ""] of printed.matchAll(/publishes to \S*\/(\S+)/g))
    expect(await arena.weir.client.streams.getByKey(key)).toMatchObject({ streamKey: key });
});
