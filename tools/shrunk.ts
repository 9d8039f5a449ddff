/** A list of which no member can be left out alone while it still fails, by ever smaller pieces. A. Zeller and R. Hildebrandt: Simplifying and Isolating Failure-Inducing Input (2002), ddmin. */
export function shrunk<T>(list: readonly T[], fails: (some: readonly T[]) => boolean, pieces = 2): readonly T[] {
  if (list.length <= 1) return list;
  const size = Math.ceil(list.length / pieces);
  for (let at = 0; at < list.length; at += size) {
    const rest = list.toSpliced(at, size);
    if (rest.length > 0 && fails(rest)) return shrunk(rest, fails, Math.max(pieces - 1, 2));
  }
  return size === 1 ? list : shrunk(list, fails, Math.min(pieces * 2, list.length));
}
