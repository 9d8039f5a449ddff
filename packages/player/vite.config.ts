import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import { compressed } from "../../tools/compressed.ts";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as { version: string };
/** A hash of the content in the name, so that no two files have the same one. */
const named = `${version}-c[hash:10].js`;

/** What the server hands out as `/player-{version}.js`, for any page. */
export default defineConfig({
  // Chunks lie beside the script, wherever that came from.
  base: "./",
  plugins: [compressed],
  build: {
    target: "es2022",
    modulePreload: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      input: "src/index.ts",
      output: {
        hashCharacters: "hex",
        entryFileNames: `player-${named}`,
        chunkFileNames: `player-[name]-${named}`,
      },
    },
  },
});
