import { chmod, cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { embeddedAddress } from "../src/platform/postgres/embedded-postgres.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { untilListed } from "./support/live-renditions.ts";
import { copyServer } from "./support/previous-version.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";
import { WeirProcess } from "./support/weir-process.ts";

/** A copy of the server whose decoding children do what their attacker wants, as they would after a hole in FFmpeg. */

const ATTACK = fileURLToPath(new URL("./support/decoder-attack.js", import.meta.url));
const CHILD = "apps/server/src/media/transcode/transcode-child.ts";
const STARTS = 'else if (message.type === "start") engine =';
const SAID = "ATTACKED ";

let root: string;
let weir: WeirProcess;

beforeAll(async () => {
  root = await copyServer();
  // As an installation is: the children's own user may read the code.
  await chmod(root, 0o755);
  const text = await readFile(join(root, CHILD), "utf8");
  expect(text.split(STARTS), `${CHILD} no longer starts like this`).toHaveLength(2);
  const attacked = `else if (message.type === "start") {
      const { attack } = await import("./decoder-attack.js");
      throw new Error("${SAID}" + JSON.stringify(await attack(JSON.parse((await import("node:fs")).readFileSync(new URL("./goals.json", import.meta.url), "utf8")))));
    } else if (message.type === "never") engine =`;
  await writeFile(
    join(root, CHILD),
    text.replace(STARTS, () => attacked),
  );
  await cp(ATTACK, join(root, CHILD, "../decoder-attack.js"));
  weir = await WeirProcess.start({ root });
});
afterAll(async () => {
  await weir?.[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

test("who has taken over a decoder reaches no file, no process and no port of the server, and others watch on", async (context) => {
  const { host, port } = embeddedAddress(weir.dataFolder);
  const goals = {
    dataFolder: weir.dataFolder,
    serverPid: weir.pid,
    code: join(root, CHILD),
    httpPort: weir.httpPort,
    rtmpPort: weir.rtmpPort,
    database: `${host}/.s.PGSQL.${port}`,
  };
  await writeFile(join(root, CHILD, "../goals.json"), JSON.stringify(goals));
  const { attack } = (await import(ATTACK)) as { attack(of: typeof goals): Promise<string[]> };
  // What this test tries would work for who is not confined.
  const unconfined = await attack(goals);
  expect(unconfined).toEqual(
    expect.arrayContaining(["lists the data folder", "reads the server's environment", "reaches the API"]),
  );
  if (!weir.log.includes("decoding children are confined")) return context.skip("nothing can be confined here");
  await using bystander = await startBroadcast(weir, { seconds: 60 });
  await untilListed(bystander.hlsUrl, "source", 2);
  await using broadcast = await startBroadcast(weir, { seconds: 60, stream: { profiles: SMALL_LADDER } });
  const said = () => /ATTACKED (\[.*?\])/.exec(weir.log.replaceAll('\\"', '"'))?.[1];
  await expect.poll(said, { timeout: 30_000 }).toBeDefined();
  const succeeded = JSON.parse(said() ?? "null") as string[];
  console.log(`unconfined: ${unconfined.join(", ")}; from inside a decoder: ${succeeded.join(", ") || "nothing"}`);
  expect(succeeded).toEqual([]);
  const listed = await untilListed(bystander.hlsUrl, "source", 3);
  await untilListed(bystander.hlsUrl, "source", listed.length + 1);
  await untilListed(broadcast.hlsUrl, "source", 2);
  expect((await broadcast.now()).status.state).toBe("live");
});
