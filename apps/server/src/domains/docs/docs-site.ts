import type { OpenApi } from "../api/index.ts";
import { addressOf, type DocsPage, type DocsSection } from "./docs-page.ts";
import { errorPages } from "./error-pages.ts";
import { type Guides, readGuides } from "./guide-pages.ts";
import { escapeHtml, type Rendered, renderMarkdown } from "./markdown-renderer.ts";
import { referencePages } from "./reference-pages.ts";

const SECTIONS: readonly DocsSection[] = ["Guides", "API reference", "Errors", "Decisions"];
/** Sections whose pages are listed beside every page; of the others there is a page with links. */
const LISTED: readonly DocsSection[] = ["Guides", "API reference"];
const MAX_EXCERPT = 200;
/** Of one heading: the words of a long list do not tell it apart. */
const MAX_SEARCHED = 1_500;
/** The label of a decision's first paragraph. */
const LABEL = /^\*\*Decision\.\*\* /;
const LINK = /!?\[([^\]]*)\]\([^)]*\)/g;
const CODE = /^ *```[\s\S]*?^ *```/gm;

/** One heading of one page, for the search of the pages' own script. */
export interface SearchEntry {
  readonly id: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

/** Every page of the documentation. Writing and rendering them is long work, for a thread of its own. */
export class DocsSite {
  readonly images: Guides["images"];
  readonly pages: ReadonlyMap<string, DocsPage>;
  readonly #rendered = new Map<string, Rendered>();

  /** Without a folder there are no guides. */
  constructor(folder: string | null, document: OpenApi) {
    const guides = folder === null ? { pages: [], images: new Map() } : readGuides(folder);
    this.images = guides.images;
    const pages = [...guides.pages, ...referencePages(document), ...errorPages()];
    this.pages = new Map([firstPage(pages), ...pages].map((page) => [page.path, page]));
  }

  /** The content of a page, between navigation and table of contents. */
  html(page: DocsPage): string {
    const rendered = this.#render(page);
    const parts = rendered.headings.filter(({ level }) => level === 2);
    const contents = parts
      .map(({ id, text }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`)
      .join("");
    return `<nav class="pages" aria-label="Pages">${this.#navigation(page)}</nav>
<article>${rendered.html}<p class="source"><a href="${addressOf(page.path === "" ? "index" : page.path)}.md">This page as Markdown</a></p></article>
${parts.length < 2 ? "" : `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${contents}</ul></nav>`}`;
  }

  /** For programs that read documentation (llmstxt.org). */
  llmsText(): string {
    const sections = SECTIONS.map((section) => {
      const lines = this.#of(section).map((page) =>
        listed(page, `${addressOf(page.path === "" ? "index" : page.path)}.md`),
      );
      return `## ${section}\n\n${lines.join("\n")}`;
    });
    return [
      "# Weir",
      "> Self-hosted video: live streams, recordings, clips, assets, playback, access control, health, events and webhooks behind one HTTP API.",
      "The API as OpenAPI 3.1: /api/openapi.json",
      ...sections,
    ].join("\n\n");
  }

  /** Without decisions, which would fill the results of those who look for an answer. */
  searchEntries(): SearchEntry[] {
    return [...this.pages.values()].flatMap((page) => (page.section === "Decisions" ? [] : this.#entriesOf(page)));
  }

  #entriesOf(page: DocsPage): SearchEntry[] {
    const headings = this.#render(page).headings.filter(({ level }) => level <= 2);
    return sectionsOf(page.markdown).flatMap((lines, index): SearchEntry[] => {
      const { id = "", text: heading = page.title } = headings[index] ?? {};
      const text = plain(lines.slice(1).join("\n").replaceAll(CODE, "")).slice(0, MAX_SEARCHED);
      return text === "" ? [] : [{ id: `${addressOf(page.path)}#${id}`, title: page.title, heading, text }];
    });
  }

  #of(section: DocsSection): DocsPage[] {
    return [...this.pages.values()].filter((page) => page.section === section);
  }

  #navigation(current: DocsPage): string {
    const lists = LISTED.map((section) => {
      const items = this.#of(section).map(({ path, title }) => {
        const here = path === current.path ? ' aria-current="page"' : "";
        const depth = path.includes("/") && section === "Guides" ? ' class="inner"' : "";
        return `<li${depth}><a href="${addressOf(path)}"${here}>${escapeHtml(title)}</a></li>`;
      });
      return `<h2>${section}</h2><ul>${items.join("")}</ul>`;
    });
    return `${lists.join("")}<h2>Errors</h2><ul><li><a href="${addressOf("errors")}">All codes</a></li></ul>`;
  }

  #render(page: DocsPage): Rendered {
    const known = this.#rendered.get(page.path);
    if (known) return known;
    const rendered = renderMarkdown(page.markdown);
    this.#rendered.set(page.path, rendered);
    return rendered;
  }
}

function firstPage(pages: readonly DocsPage[]): DocsPage {
  const links = (section: DocsSection) =>
    pages
      .filter((page) => page.section === section)
      .map((page) => listed(page, addressOf(page.path)))
      .join("\n");
  const markdown = [
    "# Documentation",
    "Guides for the people who run Weir, and the reference of its API.",
    `## Guides\n\n${links("Guides")}`,
    `## API reference\n\n${links("API reference")}\n- [Errors](${addressOf("errors")}): every code, what happened and what to do.`,
    `## Decisions\n\nWhy Weir is built as it is.\n\n${links("Decisions")}`,
  ].join("\n\n");
  return { path: "", section: "Guides", title: "Documentation", markdown };
}

/** A line of a list: the page and what it is about. */
function listed({ title, markdown }: DocsPage, address: string): string {
  const sentence = firstSentence(markdown);
  return `- [${title}](${address})${sentence && `: ${sentence}`}`;
}

/** Of the first paragraph that has one, as Markdown without links. Empty if there is none. */
export function firstSentence(markdown: string): string {
  const paragraphs = markdown
    .replaceAll(CODE, "")
    .split("\n\n")
    .filter((part) => /^[\p{L}`*[]/u.test(part))
    .map((part) => part.replaceAll(LINK, "$1").replace(LABEL, "").replaceAll(/\s+/g, " "));
  const [sentence = ""] = paragraphs.flatMap((text) => /^.{20,}?\.(?= |$)/.exec(text) ?? []);
  return sentence.length > MAX_EXCERPT ? `${sentence.slice(0, sentence.lastIndexOf(" ", MAX_EXCERPT))} …` : sentence;
}

/** The lines of a page, divided at its headings of the first two levels. A comment in a block of code is no heading. */
function sectionsOf(markdown: string): string[][] {
  const sections: string[][] = [];
  let isCode = false;
  for (const line of markdown.split("\n")) {
    if (/^ *```/.test(line)) isCode = !isCode;
    if (!isCode && /^#{1,2} /.test(line)) sections.push([]);
    sections.at(-1)?.push(line);
  }
  return sections;
}

/** Markdown without its marks. */
const plain = (markdown: string): string =>
  markdown
    .replaceAll(/^ *```.*$/gm, "")
    .replaceAll(LINK, "$1")
    .replaceAll(/[`*|#>]|-{3,}/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
