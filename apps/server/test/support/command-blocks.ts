import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const FENCE = /^( *)```(\S+)(?: (.*))?\n([\s\S]*?)^ *```/gm;

/** Variables that a reader sets before copying an example; docs/5-api explains them. */
export const EXAMPLE_VARIABLES = ["API_KEY", "STREAM_ID", "STREAM_KEY"] as const;

/** A fenced block of shell commands in a document. */
export interface CommandBlock {
  /** `README.md:13` */
  readonly place: string;
  readonly script: string;
  /** Why no test runs it: "```sh not-run: needs an encoder". */
  readonly notRun: string | null;
}

/** All command blocks in the documents, in order, besides those of guides, which run as a whole. */
export function commandBlocks(): CommandBlock[] {
  const pages = globSync(["*.md", "docs/**/*.md", "deploy/**/*.md"], { cwd: ROOT, exclude: ["docs/6-guides/**"] });
  return pages.sort().flatMap(blocksOf);
}

function blocksOf(page: string): CommandBlock[] {
  const text = readFileSync(`${ROOT}/${page}`, "utf8");
  return [...text.matchAll(FENCE)]
    .filter(([, , language = ""]) => ["sh", "bash", "shell", "console"].includes(language))
    .map(({ 1: indent = "", 3: mark, 4: body = "", index }) => ({
      place: `${page}:${text.slice(0, index).split("\n").length}`,
      script: body.replaceAll(`\n${indent}`, "\n").trim(),
      notRun: mark === undefined ? null : (/^not-run: (.{10,})$/.exec(mark)?.[1] ?? ""),
    }));
}
