import { docsStrings as text } from "../../shared/strings/docs-strings.ts";

const LANGUAGES: Readonly<Record<string, string>> = { sh: "curl", ts: "TypeScript", python: "Python" };
/** The reader's choice holds for the page. */
const chosen = { language: "sh" };
const COPIED_MS = 2000;

/** Show one of several samples of the same request: the blocks that follow each other, in different languages. */
export function groupSamples(root: ParentNode): void {
  for (const first of root.querySelectorAll<HTMLElement>('pre[data-language="sh"]')) {
    const blocks = [first, ...followers(first)];
    if (blocks.length > 1) addTabs(blocks);
  }
  show(root, chosen.language);
}

function followers(first: HTMLElement): HTMLElement[] {
  const found: HTMLElement[] = [];
  for (let next = first.nextElementSibling; next instanceof HTMLPreElement; next = next.nextElementSibling) {
    const { language = "" } = next.dataset;
    if (language === "sh" || !(language in LANGUAGES)) break;
    found.push(next);
  }
  return found;
}

function addTabs(blocks: readonly HTMLElement[]): void {
  const bar = document.createElement("div");
  bar.className = "languages";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", text.language);
  for (const { dataset } of blocks) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = LANGUAGES[dataset.language ?? ""] ?? "";
    button.dataset.shows = dataset.language ?? "";
    button.addEventListener("click", () => show(document, button.dataset.shows ?? ""));
    bar.append(button);
  }
  for (const block of blocks) block.classList.add("sample");
  blocks[0]?.before(bar);
}

function show(root: ParentNode, language: string): void {
  chosen.language = language;
  for (const block of root.querySelectorAll<HTMLElement>("pre.sample"))
    block.hidden = block.dataset.language !== language;
  for (const button of root.querySelectorAll<HTMLElement>("[data-shows]"))
    button.setAttribute("aria-pressed", String(button.dataset.shows === language));
}

/** A button at each block of code. */
export function addCopyButtons(root: ParentNode): void {
  for (const block of root.querySelectorAll<HTMLElement>('pre:not([data-language="http"])')) {
    const code = block.textContent ?? "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = text.copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code);
      button.textContent = text.copied;
      setTimeout(() => {
        button.textContent = text.copy;
      }, COPIED_MS);
    });
    block.append(button);
  }
}
