import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { FuzzTarget } from "./fuzz-target.ts";

/** Inputs that once reached new code or were a finding, one file each, in a folder for each target. */
const FOLDER = new URL("corpus/", import.meta.url);

export function corpusOf({ name }: FuzzTarget): Uint8Array[] {
  const folder = new URL(`${name}/`, FOLDER);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((file) => new Uint8Array(readFileSync(new URL(file, folder))));
}

/** Adds an input, and returns its path. The same input is added once. */
export function addToCorpus(name: string, input: Uint8Array): string {
  const folder = new URL(`${name}/`, FOLDER);
  mkdirSync(folder, { recursive: true });
  const file = new URL(createHash("sha256").update(input).digest("hex").slice(0, 16), folder);
  writeFileSync(file, input);
  return file.pathname;
}
