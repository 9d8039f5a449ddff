// Loaded into a server by `--import`: on SIGUSR2 it collects garbage and writes to a file what the process holds, which nobody can see from outside.
// After a usual collection V8 keeps the pages that were emptied, some hundred MiB; after a last one it returns them, so that what stays resident is held.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.CAMPAIGN_OBSERVED_IN ?? "";
let nth = 0;
process.on("SIGUSR2", () => {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const { heapUsed } = process.memoryUsage();
  const path = join(folder, `observed-${process.pid}`);
  writeFileSync(`${path}.new`, JSON.stringify({ nth: ++nth, timers, heapBytes: heapUsed }));
  renameSync(`${path}.new`, path);
});
