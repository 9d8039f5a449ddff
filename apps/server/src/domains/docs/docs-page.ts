/** A page of the documentation. Markdown is its only form; HTML is rendered from it. */
export interface DocsPage {
  /** Below `/docs/`, without a slash at the end; empty for the first page. */
  readonly path: string;
  readonly section: DocsSection;
  readonly title: string;
  /** With links to other pages as `/docs/…`. */
  readonly markdown: string;
}

export type DocsSection = "Guides" | "API reference" | "Errors" | "Decisions";

/** The address of a page. */
export const addressOf = (path: string): string => (path === "" ? "/docs" : `/docs/${path}`);

/** The id of a heading, by GitHub's rules, which the links of the documents follow. */
export const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\s-]/gu, "")
    .replaceAll(" ", "-");

/** A cell of a Markdown table: one line, whose bars are no borders. */
export const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");

/** A Markdown table; empty without rows. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

export const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
