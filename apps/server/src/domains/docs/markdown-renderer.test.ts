import { expect, it } from "vitest";
import { renderMarkdown } from "./markdown-renderer.ts";

it("HTML in a document is shown as text, and a link that would run a script is none", () => {
  const { html } = renderMarkdown('a <script>alert(1)</script> [x](javascript:alert(1))\n\n<img src=x onerror="y">');
  expect(html).not.toMatch(/<script|<img|href/);
});

it("a block's language and content cannot leave their places", () => {
  const { html } = renderMarkdown('```"><b>\n</code><b>\n```');
  expect(html).not.toContain("<b>");
});

it("headings have the ids that links on GitHub use, and the second of a name another one", () => {
  const { headings } = renderMarkdown("# `npm start`: a test\n\n## Errors\n\n## Errors");
  expect(headings.map(({ id }) => id)).toEqual(["npm-start-a-test", "errors", "errors-1"]);
});

it("a cell of a table has the head of its column, for phones, and none where the head is empty", () => {
  const { html } = renderMarkdown("| `A` | |\n| --- | --- |\n| 1 | 2 |\n\n| B |\n| --- |\n| 3 |");
  expect(html.match(/<td.*?<\/td>/g)).toEqual([
    "<td></td>",
    '<td data-head="A">1</td>',
    "<td>2</td>",
    '<td data-head="B">3</td>',
  ]);
});
