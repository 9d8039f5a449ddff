import { expect, test } from "vitest";
import { ensureKnownLocale } from "./known-locale.ts";

test.each([
  ["en-US@posix", "en-US"],
  ["", "en-US"],
  ["de-CH", "de-CH"],
])("the language %j is %j afterwards, and Intl takes it", (language, expected) => {
  const browser = { language };
  ensureKnownLocale(browser);
  expect(browser.language).toBe(expected);
  expect(new Intl.NumberFormat(browser.language).format(1)).toBe("1");
});
