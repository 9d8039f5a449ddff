import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { compressed } from "../../tools/compressed.ts";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as { version: string };
/** A hash of the content in the name, so that no two files have the same one. */
const named = `${version}-c[hash:10].js`;

/** What the server hands out as `/{name}-{version}.js`, for any page. */
const SCRIPTS = [
  ["player", "src/index.ts"],
  ["broadcast", "src/broadcast/index.ts"],
] as const;

// One after the other: a file that two scripts share would cost each of them a request.
for (const [name, input] of SCRIPTS) {
  await build({
    root: ROOT,
    configFile: false,
    // Chunks lie beside the script, wherever that came from.
    base: "./",
    plugins: [compressed],
    build: {
      target: "es2022",
      emptyOutDir: name === "player",
      modulePreload: false,
      chunkSizeWarningLimit: 600,
      rolldownOptions: {
        input: fileURLToPath(new URL(input, import.meta.url)),
        output: {
          hashCharacters: "hex",
          entryFileNames: `${name}-${named}`,
          chunkFileNames: `${name}-[name]-${named}`,
        },
      },
    },
  });
}
