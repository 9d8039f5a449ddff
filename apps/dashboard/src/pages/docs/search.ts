import MiniSearch from "minisearch";
import { docsStrings as text } from "../../shared/strings/docs-strings.ts";

interface Entry {
  /** The address of a heading. */
  readonly id: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

const MAX_RESULTS = 12;
const EXCERPT_BEFORE = 40;
const EXCERPT_LENGTH = 140;

/** Search in all pages. The index is fetched and built when the field is first used. */
export function addSearch(root: Document): void {
  const field = root.querySelector<HTMLInputElement>("#search");
  const results = root.querySelector<HTMLElement>("#results");
  if (!field || !results) return;
  let index: Promise<MiniSearch<Entry>> | null = null;
  const load = () => {
    index ??= loadIndex();
    return index;
  };
  field.addEventListener("focus", () => void load());
  field.addEventListener("input", async () => {
    const wanted = field.value.trim();
    const found = wanted === "" ? [] : (await load()).search(wanted).slice(0, MAX_RESULTS);
    if (field.value.trim() !== wanted) return;
    results.hidden = wanted === "";
    results.replaceChildren(
      ...(found.length === 0 ? [paragraph(text.noResults)] : [list(found as unknown as Entry[], wanted)]),
    );
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") results.hidden = true;
    const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key !== "/" || isTyping) return;
    event.preventDefault();
    field.focus();
  });
}

async function loadIndex(): Promise<MiniSearch<Entry>> {
  const answer = await fetch("/docs/search.json", { credentials: "omit" });
  const index = new MiniSearch<Entry>({
    fields: ["title", "heading", "text"],
    storeFields: ["title", "heading", "text"],
    searchOptions: { boost: { title: 2, heading: 4 }, prefix: true, fuzzy: 0.15, combineWith: "AND" },
  });
  index.addAll((await answer.json()) as Entry[]);
  return index;
}

function list(found: readonly Entry[], wanted: string): HTMLElement {
  const items = document.createElement("ul");
  for (const { id, title, heading, text: content } of found) {
    const link = document.createElement("a");
    link.href = id;
    const name = document.createElement("strong");
    name.textContent = heading === title ? title : `${title} › ${heading}`;
    link.append(name, paragraph(excerpt(content, wanted)));
    const item = document.createElement("li");
    item.append(link);
    items.append(item);
  }
  return items;
}

function excerpt(content: string, wanted: string): string {
  const at = content.toLowerCase().indexOf(wanted.toLowerCase().split(" ")[0] ?? "");
  const begin = Math.max(0, at - EXCERPT_BEFORE);
  return `${begin > 0 ? "… " : ""}${content.slice(begin, begin + EXCERPT_LENGTH)}`;
}

function paragraph(content: string): HTMLElement {
  return Object.assign(document.createElement("p"), { textContent: content });
}
