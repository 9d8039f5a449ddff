import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTestFolder } from "../test-folder-rig.ts";
import { createCluster, explainFailure } from "./postgres-cluster.ts";

test.each([
  ["FATAL:  could not write lock file: No space left on device", "no space for the database in /d"],
  ["sh: 1: exec: /m/native/bin/initdb: not found", "needs glibc"],
  ["setpriv: failed to execute /m/native/bin/postgres: No such file or directory", "needs glibc"],
  ['FATAL:  lock file "postmaster.pid" already exists', "the database in /d is used by another server"],
  ["FATAL:  something new", "the embedded PostgreSQL did not start on /d: something new"],
])("%s is told in one line", (line, expected) => {
  const { message } = explainFailure("/d", ["LOG:  starting", line, "HINT:  none"]);
  expect(message).toContain(expected);
  expect(message).not.toContain("\n");
});

test("the initdb of a killed start, which removes its folder as it ends, takes nothing from the next start", async () => {
  const folder = makeTestFolder("cluster");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = (name: string, script: string) => {
    const initdb = join(folder, name);
    writeFileSync(initdb, `#!/bin/sh\nset -e\ncd ${folder}\n${script}`, { mode: 0o755 });
    return { initdb, postgres: "", env: {} };
  };
  const waitFor = (name: string) => `until [ -e ${name} ]; do sleep 0.01; done`;
  // As `-D FOLDER`.
  const killed = program("killed", `touch "$2/PG_VERSION"; ${waitFor("next")}; rm -f "$2"/*; touch removed; exit 1`);
  const next = program("next-start", `touch "$2/PG_VERSION" next; ${waitFor("removed")}; test -e "$2/PG_VERSION"`);
  const cluster = join(folder, "pg", "18");
  const orphan = createCluster(cluster, killed, { prefix: [] });
  orphan.catch(() => {});
  await expect.poll(() => readdirSync(join(folder, "pg"), { recursive: true }).join()).toContain("PG_VERSION");
  await createCluster(cluster, next, { prefix: [] });
  expect(existsSync(join(cluster, "PG_VERSION"))).toBe(true);
  await expect(orphan).rejects.toThrow("did not start");
});
