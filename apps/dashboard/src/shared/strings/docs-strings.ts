/** Texts of the documentation's own script. */
export const docsStrings = {
  apiKey: "API key (kept in this page only)",
  body: "Body",
  copied: "Copied",
  copy: "Copy",
  language: "Language of the sample",
  noAnswer: "No answer. The server is not reachable.",
  noResults: "No results",
  optional: "optional",
  requestId: (id: string) => `request ${id}`,
  send: "Send request",
  took: (ms: number) => `${ms} ms`,
  tryIt: "Try it",
};
