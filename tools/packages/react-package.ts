import { join } from "node:path";
import { build } from "vite";
import { ROOT } from "../source-files.ts";
import { writeDeclarations } from "./declarations.ts";
import type { PackageArchive } from "./package-archive.ts";

const REACT = "packages/react";

/** `@weir/react`: with the player, the broadcast and the client in it, so that it depends on React alone. */
export const reactPackage: PackageArchive = {
  name: "react",
  description: "The player and the broadcast of a Weir server for React, with hooks over its API",
  sources: [
    `${REACT}/src`,
    `${REACT}/tsconfig.build.json`,
    ...["player", "client", "contract"].map((name) => `packages/${name}/src`),
  ],
  stage: async (root) => {
    await build({
      root: join(ROOT, REACT),
      configFile: false,
      logLevel: "error",
      build: {
        target: "es2022",
        outDir: join(root, "dist"),
        lib: { entry: join(ROOT, REACT, "src/index.ts"), formats: ["es"], fileName: "index" },
        chunkSizeWarningLimit: 1000,
        rolldownOptions: {
          external: ["react"],
          // Components and hooks are of the browser: Next.js asks for this sentence.
          output: { chunkFileNames: "[name].js", banner: ({ isEntry }) => (isEntry ? '"use client";' : "") },
        },
      },
    });
    writeDeclarations("react", join(root, "dist/types"));
    const types = "./dist/types/react/src/index.d.ts";
    return {
      peerDependencies: { react: ">=18", "@types/react": ">=18" },
      peerDependenciesMeta: { "@types/react": { optional: true } },
      types,
      exports: { ".": { types, default: "./dist/index.js" }, "./package.json": "./package.json" },
    };
  },
};
