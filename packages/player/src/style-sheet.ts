const made = new Map<string, CSSStyleSheet>();

/** The style sheet of a text, one for all elements. Made when the first of them is: a server that renders the page has no style sheets. */
export function sheetOf(css: string): CSSStyleSheet {
  let sheet = made.get(css);
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    made.set(css, sheet);
  }
  return sheet;
}
