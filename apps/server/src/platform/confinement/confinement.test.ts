import { spawn } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import { createLog } from "../log.ts";
import { confinements, UNCONFINED } from "./confinement.ts";
import { findConfinement, tryConfinement } from "./find-confinement.ts";

const NOBODY = 65_534;

let folder: string;
let secret: string;
let server: Server;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-confined-"));
  secret = join(folder, "secret");
  writeFileSync(secret, "key", { mode: 0o600 });
  server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const port = () => (server.address() as AddressInfo).port;

test("a child that is not confined reads the data folder and reaches the network", async () => {
  expect(await tryConfinement(UNCONFINED, secret, port(), systemClock)).toEqual({
    readsFiles: true,
    changesCode: true,
    reachesNetwork: true,
  });
});

for (const [index, { bounds }] of confinements({ hidden: [], groups: [] }).entries()) {
  test(`a child with ${bounds.join(", ")} cannot do what that takes away`, async (context) => {
    const confinement = confinements({ hidden: [folder], groups: [] })[index] ?? UNCONFINED;
    const breaches = await tryConfinement(confinement, secret, port(), systemClock);
    if (!breaches) return context.skip(`this machine does not allow it: ${confinement.prefix.slice(0, 8).join(" ")} …`);
    const text = bounds.join();
    expect(breaches).toEqual({
      readsFiles: !/data folder hidden|user of their own/.test(text),
      // As root the test's own code belongs to root, whom a child of another user cannot write for.
      changesCode: !/no file to be changed|user of their own/.test(text),
      reachesNetwork: !text.includes("no network"),
    });
  });
}

test("the strongest confinement that works is found, told in one line, and leaves nothing behind", async () => {
  let said = "";
  const log = createLog(
    { level: "info", readable: false },
    new Writable({
      write: (line, _encoding, done) => {
        said += line;
        done();
      },
    }),
  );
  const found = await findConfinement({ dataFolder: folder, hidden: [folder], groups: [], clock: systemClock, log });
  expect(said.trim().split("\n")).toHaveLength(1);
  expect(JSON.parse(said)).toMatchObject({
    bounds: found.bounds,
    msg: expect.stringMatching(/decoding children are confined/),
  });
  expect(readdirSync(folder)).toEqual(["secret"]);
});

test.runIf(process.getuid?.() === 0)(
  "an ordinary user's child is confined too, where user namespaces are allowed",
  async (context) => {
    chownSync(folder, NOBODY, NOBODY);
    const script = `
    import { systemClock } from ${JSON.stringify(new URL("../clock.ts", import.meta.url).href)};
    import { silentLog } from ${JSON.stringify(new URL("../log.ts", import.meta.url).href)};
    import { findConfinement } from ${JSON.stringify(new URL("./find-confinement.ts", import.meta.url).href)};
    const dataFolder = ${JSON.stringify(folder)};
    const found = await findConfinement({ dataFolder, hidden: [dataFolder], groups: [], clock: systemClock, log: silentLog });
    process.stdout.write(JSON.stringify(found.bounds));`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
      uid: NOBODY,
      gid: NOBODY,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    for await (const bytes of child.stdout) said += bytes;
    const bounds = JSON.parse(said) as string[];
    expect(bounds).toContain("limits of memory and files");
    if (!bounds.includes("no network")) return context.skip("user namespaces are not allowed here");
    expect(bounds).toEqual(expect.arrayContaining(["the data folder hidden", "no file to be changed"]));
  },
);
