import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Compiling is most of what a short command costs. Where the folder cannot be written to, it is done each time.
enableCompileCache(fileURLToPath(new URL("../../../../node_modules/.cache/weir", import.meta.url)));
const { runCli } = await import("./run-cli.ts");
// Not `process.exit`: output may still be on its way, and `weir start` goes on.
process.exitCode = await runCli(process.argv.slice(2));
