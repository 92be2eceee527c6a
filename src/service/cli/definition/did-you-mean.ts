/** A question with a trailing space, to be followed by the list of valid names. Empty if no name is similar. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const name = nearest(typed, names);
  return name === undefined ? '' : `Did you mean ${name}? `;
}

const maxTypoLength = 64;

/** The name that was probably meant; undefined if none is similar. */
export function nearest(typed: string, names: Iterable<string>): string | undefined {
  if (typed.length > maxTypoLength) return undefined;
  const candidates = [...names]
    .map((name) => ({ name, off: distance(typed, name) }))
    .filter(({ name, off }) => off <= Math.max(1, Math.floor(Math.min(name.length, typed.length) / 3)))
    .toSorted((one, other) => one.off - other.off);
  return candidates[0]?.name;
}

/** The number of edits: insertions, deletions, replacements, and swaps of neighbors. */
function distance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1];
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(
        Math.min(
          (last[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (last[j - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = row;
  }
  return last[other.length] ?? 0;
}
