import MarkdownIt, { type Token } from "markdown-it";
import { headingId } from "./docs-page.ts";

export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

// HTML in a document is shown as text, and links to `javascript:` and the like are refused.
const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });

markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>';
markdown.renderer.rules.table_close = () => "</table></div>";
markdown.renderer.rules.fence = (tokens, index) => {
  const { info = "", content = "" } = tokens[index] ?? {};
  const language = markdown.utils.escapeHtml(info.split(" ", 1)[0] ?? "");
  return `<pre tabindex="0" data-language="${language}"><code>${markdown.utils.escapeHtml(content)}</code></pre>\n`;
};

/** Render a page, with an id at each heading, and in each cell of a table the head of its column, which phones show beside it. */
export function renderMarkdown(text: string): Rendered {
  const tokens = markdown.parse(text, {});
  labelCells(tokens);
  const headings: Heading[] = [];
  const used = new Map<string, number>();
  tokens.forEach((token, index) => {
    if (token.type === "th_open" && tokens[index + 1]?.content === "") emptyHead(tokens.slice(index, index + 3));
    if (token.type !== "heading_open") return;
    const words = tokens[index + 1]?.children?.map(({ content }) => content).join("") ?? "";
    const id = headingId(words);
    const times = used.get(id) ?? 0;
    used.set(id, times + 1);
    const unique = times === 0 ? id : `${id}-${times}`;
    token.attrSet("id", unique);
    headings.push({ level: Number(token.tag.slice(1)), id: unique, text: words });
  });
  return { html: markdown.renderer.render(tokens, markdown.options, {}), headings };
}

function labelCells(tokens: readonly Token[]): void {
  let heads: string[] = [];
  let column = 0;
  tokens.forEach((token, index) => {
    if (token.type === "table_open") heads = [];
    if (token.type === "tr_open") column = 0;
    if (token.type === "th_open") heads.push(tokens[index + 1]?.content.replaceAll("`", "") ?? "");
    const head = token.type === "td_open" ? heads[column++] : undefined;
    if (head) token.attrSet("data-head", head);
  });
}

/** A head without words names nothing: a cell. */
function emptyHead(tokens: readonly Token[]): void {
  for (const token of tokens) if (token.tag === "th") token.tag = "td";
}

export const escapeHtml = (text: string): string => markdown.utils.escapeHtml(text);
