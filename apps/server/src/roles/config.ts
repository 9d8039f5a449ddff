import { nearestName } from "../platform/nearest-name.ts";
import type { ValuesOf } from "../platform/setting-kinds.ts";
import { StartupError } from "../platform/startup-error.ts";
import { SETTINGS } from "./settings.ts";

export type Config = ValuesOf<typeof SETTINGS>;

/** The settings in `env`. Throws one `StartupError` that names every variable with an invalid value. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, { variable, fallback, parse, allowed, isSecret }] of Object.entries(SETTINGS)) {
    const text = env[variable] || fallback;
    if (text === undefined) {
      config[name] = null;
      continue;
    }
    const value = parse(text);
    if (value === undefined)
      problems.push(`${variable} is ${isSecret ? "not valid" : JSON.stringify(text)}: give ${allowed}`);
    config[name] = value;
  }
  if (problems.length > 0) throw new StartupError(problems.join("; "));
  return config as Config;
}

/** A setting and its value in a process, without secrets. */
export interface EffectiveSetting {
  readonly variable: string;
  readonly about: string;
  /** Null if unset; `[secret]` for a secret. */
  readonly value: string | null;
  readonly isDefault: boolean;
}

/** All settings with their descriptions, for people to read. */
export function effectiveSettings(config: Config): EffectiveSetting[] {
  return Object.entries(SETTINGS).map(([name, { variable, about, fallback, parse, isSecret }]) => {
    const shown = shownValue(config[name as keyof Config]);
    const isDefault = shown === (fallback === undefined ? null : shownValue(parse(fallback) ?? null));
    return { variable, about, value: isSecret && shown !== null ? "[secret]" : shown, isDefault };
  });
}

function shownValue(value: Config[keyof Config]): string | null {
  if (typeof value === "boolean") return value ? "1" : "0";
  return value === null ? null : String(value);
}

/** The variable by which the command line learns its server. A shell that has it may start a server, too. */
const OF_COMMAND_LINE = "WEIR_URL";

/** A sentence about each variable in `env` that looks like a setting but is not, most likely because of a typo. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const known: readonly string[] = Object.values(SETTINGS).map(({ variable }) => variable);
  return Object.keys(env)
    .filter((variable) => variable.startsWith("WEIR_") && variable !== OF_COMMAND_LINE && !known.includes(variable))
    .map((variable) => {
      const nearest = nearestName(variable, known);
      const remedy = nearest ? `did you mean ${nearest}?` : "see docs/4-operate/settings.md";
      return `${variable} is not a setting of Weir and is ignored: ${remedy}`;
    });
}

/** The reference page of all settings, in Markdown. */
export function describeSettings(): string {
  const rows = Object.values(SETTINGS).map(({ variable, fallback, allowed, about }) => {
    return `| \`${variable}\` | ${fallback === undefined ? "" : `\`${fallback}\``} | ${about} | ${allowed} |`;
  });
  return [
    "# Settings",
    "",
    "Environment variables, read once at the start. An empty variable counts as unset. An invalid value stops the start with a message.",
    "",
    "| Variable | Default | Purpose | Allowed |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
