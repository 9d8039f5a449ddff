/** How a language writes values. */
export interface LiteralStyle {
  readonly words: { readonly null: string; readonly true: string; readonly false: string };
  /** The key of a field, with all that stands before its value. */
  readonly key: (name: string) => string;
  /** Braces with a space inside. */
  readonly isAiry: boolean;
}

const MAX_WIDTH = 80;

/** A JSON value as the source text of a language: on one line while it is short, else one field a line. Fields that are undefined are left out. */
export function literal(value: unknown, style: LiteralStyle, indent = ""): string {
  if (value === null || value === undefined) return style.words.null;
  if (typeof value === "boolean") return style.words[value ? "true" : "false"];
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((entry) => literal(entry, style, inner))
    : Object.entries(value)
        .filter(([, field]) => field !== undefined)
        .map(([name, field]) => `${style.key(name)}${literal(field, style, inner)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return open + close;
  const space = style.isAiry && !isList ? " " : "";
  const line = `${open}${space}${parts.join(", ")}${space}${close}`;
  if (line.length <= MAX_WIDTH - indent.length && !line.includes("\n")) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join("")}${indent}${close}`;
}
