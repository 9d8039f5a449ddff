import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const FENCE = /^```(\S+)(?: (.*))?\n([\s\S]*?)^```/gm;

/** A task of the documents, as the reader does it: files to write and commands to run, in order. */
export interface Guide {
  readonly page: string;
  /** For bash, in an empty folder. */
  readonly script: string;
  /** How many commands the reader runs. */
  readonly commands: number;
  /** Commands that no test of `npm test` runs, with the reason. */
  readonly notRun: readonly { readonly script: string; readonly reason: string }[];
}

/** Every guide with commands, in the order of their names. */
export function guides(): Guide[] {
  const pages = globSync("docs/6-guides/*.md", { cwd: ROOT }).sort();
  return pages.map(readGuide).filter(({ commands, notRun }) => commands + notRun.length > 0);
}

function readGuide(page: string): Guide {
  const steps: string[] = [];
  const notRun: { script: string; reason: string }[] = [];
  let commands = 0;
  for (const [, language, mark = "", body = ""] of readFileSync(`${ROOT}/${page}`, "utf8").matchAll(FENCE)) {
    const file = /^file=(\S+)$/.exec(mark)?.[1];
    if (file !== undefined) steps.push(`cat > ${file} <<'END_OF_FILE'\n${body}END_OF_FILE`);
    else if (language === "sh" && mark !== "") notRun.push({ script: body, reason: mark.replace(/^not-run: /, "") });
    else if (language === "sh") {
      steps.push(body);
      commands += commandsIn(body);
    }
  }
  return { page, script: steps.join("\n"), commands, notRun };
}

/** The files that a guide has the reader write, by name. */
export function guideFiles(page: string): ReadonlyMap<string, string> {
  const files = [...readFileSync(`${ROOT}/${page}`, "utf8").matchAll(FENCE)].flatMap(([, , mark = "", body = ""]) => {
    const name = /^file=(\S+)$/.exec(mark)?.[1];
    return name === undefined ? [] : [[name, body] as const];
  });
  return new Map(files);
}

/** Lines that begin a command: not those that go on after a backslash, nor the text of a file. */
function commandsIn(body: string): number {
  const withoutFiles = body.replace(/<<'?(\w+)'?\n[\s\S]*?^\1$/gm, "");
  return withoutFiles
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "").length;
}
