import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { addressOf, type DocsPage } from "./docs-page.ts";

const FENCE_MARK = /^( *```\w+) .*$/gm;
const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;
const IMAGE = /\.(png|svg|jpg)$/;

/** The documents of the repository as pages, in the order of their folders. */
export interface Guides {
  readonly pages: readonly DocsPage[];
  /** By their name below `/docs/`. */
  readonly images: ReadonlyMap<string, Buffer>;
}

/** Read every document below `folder`, once. Links between documents lead to their pages; links to other files become plain text. */
export function readGuides(folder: string): Guides {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort(byReading);
  const documents = names.filter((name) => name.endsWith(".md"));
  const images = new Map(
    names.filter((name) => IMAGE.test(name)).map((name) => [name, readFileSync(join(folder, name))] as const),
  );
  const known = new Map(documents.map((name) => [name, pathOf(name)]));
  const pages = documents.map((name): DocsPage => {
    const text = readFileSync(join(folder, name), "utf8");
    return {
      path: pathOf(name),
      section: name.startsWith("decisions/") ? "Decisions" : "Guides",
      title: /^# (.+)$/m.exec(text)?.[1] ?? name,
      markdown: linked(text.replaceAll(FENCE_MARK, "$1"), name, known, images),
    };
  });
  return { pages, images };
}

/** A folder's README before its other pages; files of the top folder last. */
function byReading(a: string, b: string): number {
  const rank = (name: string) => [name.includes("/") ? "0" : "1", name.replace(/README\.md$/, "")].join("/");
  return rank(a) < rank(b) ? -1 : 1;
}

/** `3-watch/access.md` is `watch/access`, `3-watch/README.md` is `watch`. */
const pathOf = (name: string): string =>
  name
    .replace(/^\d-/, "")
    .replace(/\.md$/, "")
    .replace(/\/README$/, "");

function linked(
  text: string,
  name: string,
  known: ReadonlyMap<string, string>,
  images: ReadonlyMap<string, Buffer>,
): string {
  return text.replaceAll(LINK, (whole, mark: string, words: string, target: string) => {
    if (/^[a-z]+:|^#|^\//.test(target)) return whole;
    const [file = "", anchor] = target.split("#");
    const source = posix.join(posix.dirname(name), file);
    const page = known.get(source);
    if (page !== undefined) return `${mark}[${words}](${addressOf(page)}${anchor === undefined ? "" : `#${anchor}`})`;
    if (images.has(source)) return `${mark}[${words}](/docs/${source})`;
    return words;
  });
}
