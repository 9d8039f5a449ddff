import { expect, test } from "vitest";
import { firstSentence } from "./docs-site.ts";

test.each([
  [
    "a decision without its label",
    "# 1. X\n\n**Decision.** We write all of it by hand. **Why.** Because.",
    "We write all of it by hand.",
  ],
  [
    "code marks, and words of links",
    "# X\n\n`<weir-player>` is [the player](a.md) of pages. More.",
    "`<weir-player>` is the player of pages.",
  ],
  [
    "not the code of a page",
    "# X\n\n```js\nconst all = 1;\n\nconst more = 2. ;\n```\n\nThe key stays on your server.",
    "The key stays on your server.",
  ],
  [
    "not what introduces a list",
    "# X\n\nNothing else is needed:\n\n- this\n\nThat is all of it, really.",
    "That is all of it, really.",
  ],
  ["nothing without a sentence", "# X\n\n| a | b |\n| --- | --- |", ""],
])("the list of pages shows %s", (_what, markdown, sentence) => {
  expect(firstSentence(markdown)).toBe(sentence);
});
