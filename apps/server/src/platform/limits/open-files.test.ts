import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { fileBudget } from "./open-files.ts";

test.each([
  [1_024, { rtmp: 115, http: 653, storedReads: 102 }],
  [4_096, { rtmp: 460, http: 2_612, storedReads: 409 }],
  [20_000, { rtmp: 2_000, http: 13_000, storedReads: 1_000 }],
  [1_048_576, { rtmp: 2_000, http: 20_000, storedReads: 1_000 }],
  [Number.POSITIVE_INFINITY, { rtmp: 2_000, http: 20_000, storedReads: 1_000 }],
])("of %i files, connections leave a quarter, of which viewers of recordings get a part", (openFiles, budget) => {
  expect(fileBudget(openFiles)).toEqual(budget);
});

test("the limit is the one that holds in the process: Node has raised the soft limit to the hard one", async () => {
  const script = `import { openFilesLimit } from "./open-files.ts"; console.log(openFilesLimit());`;
  const { stdout } = await promisify(execFile)(
    "sh",
    ["-c", 'ulimit -Sn 300; ulimit -Hn 700; exec "$0" --input-type=module -e "$1"', process.execPath, script],
    { cwd: import.meta.dirname },
  );
  expect(stdout.trim()).toBe("700");
});
