import { readSource } from "./source-files.ts";

/** One area of the repository and what it may import besides itself. */
export interface Area {
  readonly name: string;
  /** A folder or a file, relative to the repository's root. */
  readonly path: string;
  /** Names of areas and npm packages. `node` stands for all Node modules, `npm` for all packages. */
  readonly allows: ReadonlySet<string>;
  /** Additional imports that the area's tests may use. */
  readonly testsAllow: ReadonlySet<string>;
}

const BLOCK = /```arrows\n([\s\S]*?)```/;
const LINE = /^(\S+)\s+(\S+)\s+->([^|]*)(?:\|(.*))?$/;

/** Parses the arrows block of ARCHITECTURE.md: `name path -> imports | additional imports of tests`. Throws for an unreadable line. */
export function readArrows(): Area[] {
  const block = BLOCK.exec(readSource("ARCHITECTURE.md"))?.[1];
  if (block === undefined) throw new Error("ARCHITECTURE.md has no ```arrows block");
  return block
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name, path, allows = "", testsAllow = ""] = LINE.exec(line.trim()) ?? [];
      if (!name || !path) throw new Error(`ARCHITECTURE.md: invalid arrow: ${line}`);
      return { name, path, allows: words(allows), testsAllow: words(testsAllow) };
    });
}

/** The area of a file: the one with the longest matching path. */
export function areaOf(areas: readonly Area[], file: string): Area | undefined {
  let longest: Area | undefined;
  for (const area of areas) {
    const isInside = file === area.path || file.startsWith(`${area.path}/`);
    if (isInside && area.path.length > (longest?.path.length ?? 0)) longest = area;
  }
  return longest;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean));
}
