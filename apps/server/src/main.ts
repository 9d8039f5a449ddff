import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// What is written is for the server's own user: recordings and stream keys.
process.umask(0o077);
// Compiling is half of what a start costs. Where the folder cannot be written to, it is done each time.
enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/weir", import.meta.url)));
await import("./roles/run-server.ts");
