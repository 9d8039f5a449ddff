/** The name most likely meant by `text`; null if none is similar. */
export function nearestName(text: string, names: readonly string[]): string | null {
  const most = Math.max(2, Math.floor(text.length / 4));
  let nearest: string | null = null;
  let least = most + 1;
  for (const name of names) {
    const edits = editsBetween(text, name);
    if (edits >= least) continue;
    least = edits;
    nearest = name;
  }
  return nearest;
}

/** Number of characters to insert, delete or replace (Levenshtein). */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const [over = 0, up = 0, left = 0] = [row[j], row[j + 1], next[j]];
      next.push(Math.min(up + 1, left + 1, over + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
