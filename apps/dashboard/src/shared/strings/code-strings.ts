/** Texts of *Show as code*, apart from the others because the first page has no form. */
export const codeStrings = {
  show: "Show as code",
  hide: "Hide the code",
  language: "Language",
  languages: { sh: "curl", ts: "TypeScript", python: "Python" },
  key: "WEIR_KEY holds an API key",
  what: "the code",
};
