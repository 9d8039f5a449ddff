import { expect, test } from "vitest";
import { explainFailure } from "./postgres-cluster.ts";

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
