import { readSource } from "./source-files.ts";

/** A part of the repository, and what it may import beside itself. */
export interface Area {
  readonly name: string;
  /** A folder or one file, from the repository's root. */
  readonly path: string;
  /** Names of areas and of npm packages; `node` is everything that Node brings, `npm` every package. */
  readonly allows: ReadonlySet<string>;
  /** Imports that its tests may have in addition. */
  readonly testsAllow: ReadonlySet<string>;
}

const BLOCK = /```arrows\n([\s\S]*?)```/;
const LINE = /^(\S+)\s+(\S+)\s+->([^|]*)(?:\|(.*))?$/;

/** The arrows of ARCHITECTURE.md: `name path -> imports | what its tests import as well`. Throws where a line cannot be read. */
export function readArrows(): Area[] {
  const block = BLOCK.exec(readSource("ARCHITECTURE.md"))?.[1];
  if (block === undefined) throw new Error("ARCHITECTURE.md has no block of arrows");
  return block
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name, path, allows = "", testsAllow = ""] = LINE.exec(line.trim()) ?? [];
      if (!name || !path) throw new Error(`ARCHITECTURE.md: this is no arrow: ${line}`);
      return { name, path, allows: words(allows), testsAllow: words(testsAllow) };
    });
}

/** The area that a file belongs to: the one with the longest path. */
export function areaOf(areas: readonly Area[], file: string): Area | undefined {
  return areas
    .filter(({ path }) => file === path || file.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean));
}
