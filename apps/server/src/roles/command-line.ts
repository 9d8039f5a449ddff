import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { nearestName } from "../platform/nearest-name.ts";
import { SETTINGS } from "./settings.ts";

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** The settings that a first start may need, of the many that `docs/4-operate/settings.md` lists. */
const COMMON_SETTINGS = [
  "dataDir",
  "httpPort",
  "rtmpPort",
  "publicUrl",
  "apiKey",
  "databaseUrl",
  "logLevel",
] as const satisfies readonly (keyof typeof SETTINGS)[];
const LINE = 100;

/** What the arguments of the program ask for: a server, or a text and the end of the process. */
export type CommandLine =
  | { readonly kind: "start" }
  | { readonly kind: "print"; readonly text: string }
  | { readonly kind: "refuse"; readonly reason: string };

/** Read the arguments behind the program's name. Weir has few: its settings are environment variables. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true });
  let wish: CommandLine = { kind: "start" };
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") return refuse(`unexpected argument ${JSON.stringify(token.value)}`);
    if (!Object.hasOwn(OPTIONS, token.name)) return refuse(`unknown option ${token.rawName}${settingFor(token.name)}`);
    if (token.value !== undefined) return refuse(`option ${token.rawName} takes no value`);
    if (token.name === "help") wish = { kind: "print", text: help() };
    else if (wish.kind === "start") wish = { kind: "print", text: `weir ${version()}, Node ${process.version}\n` };
  }
  return wish;
}

function refuse(problem: string): CommandLine {
  return { kind: "refuse", reason: `${problem} (--help lists the options)` };
}

/** For `--port 9`: settings are environment variables here. */
function settingFor(option: string): string {
  const variables = Object.values(SETTINGS).map(({ variable }) => variable);
  const words = option.toUpperCase().replaceAll("-", "_");
  const meant =
    variables.find((variable) => variable === words || variable === `WEIR_${words}`) ??
    (words === "PORT" ? SETTINGS.httpPort.variable : nearestName(`WEIR_${words}`, variables));
  return meant ? `: settings are environment variables; did you mean ${meant}?` : "";
}

function help(): string {
  const indent = 2 + Math.max(...COMMON_SETTINGS.map((name) => SETTINGS[name].variable.length)) + 2;
  const settings = COMMON_SETTINGS.flatMap((name) => {
    const { variable, about, fallback } = SETTINGS[name];
    const [first = "", ...more] = wrap(
      [...about.replaceAll("`", "").split(" "), ...(fallback ? [`(default: ${fallback})`] : [])],
      indent,
    );
    return [`  ${variable.padEnd(indent - 2)}${first}`, ...more.map((line) => " ".repeat(indent) + line)];
  });
  return [
    `Weir ${version()}: a self-hosted video platform.`,
    "",
    "Usage: npm start                 start the server",
    "       npm start -- --help       print this text",
    "       npm start -- --version    print the versions of Weir and Node",
    "",
    "Settings are environment variables. The most common ones:",
    "",
    ...settings,
    "",
    "All settings: docs/4-operate/settings.md. First steps: docs/1-start/README.md.",
    "",
  ].join("\n");
}

function wrap(words: readonly string[], indent: number): string[] {
  const lines = [""];
  for (const word of words) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && indent + line.length + 1 + word.length > LINE) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

function version(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
