type HasLanguage = Pick<Navigator, "language">;

/**
 * Chromium under a POSIX locale reports a language such as `en-US@posix`, and `Intl`, which uPlot calls with it, throws. Then the
 * browser's language is English to the whole page.
 */
export function ensureKnownLocale(browser: HasLanguage): void {
  try {
    Intl.getCanonicalLocales(browser.language);
  } catch {
    Object.defineProperty(browser, "language", { value: "en-US", configurable: true });
  }
}

if (typeof navigator !== "undefined") ensureKnownLocale(navigator);
