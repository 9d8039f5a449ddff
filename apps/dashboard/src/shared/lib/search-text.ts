/** A text of an address. The router reads `?name=12` as a number; to us every text is a text. */
export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
