/** The name itself, or else the names that are closest to it in case or spelling. */
export function closestNames(name: string, names: Iterable<string>, maxEdits = 4): readonly string[] {
  const wanted = name.toLowerCase();
  const allowed = Math.min(editsAllowed(wanted), maxEdits);
  const near: string[][] = Array.from({ length: allowed + 1 }, () => []);
  for (const each of names) {
    if (each === name) return [each];
    const lower = each.toLowerCase();
    near.find((_, edits) => isWithin(edits, wanted, lower))?.push(each);
  }
  return near.find((group) => group.length > 0) ?? [];
}

const maxEditsInPath = 2;

/** The path itself, or else the one with the closest name in each of its folders. Undefined if several are as close. */
export function closestPath(path: string, namesIn: (folder: string) => Iterable<string>): string | undefined {
  let closest = '';
  for (const name of path.split('/')) {
    const [next, ...others] = closestNames(name, namesIn(closest), maxEditsInPath);
    // Names with numbers are close to each other, so any of them would be a guess.
    if (next === undefined || others.length > 0) return undefined;
    closest = closest === '' ? next : `${closest}/${next}`;
  }
  return closest;
}

/** Short names can differ by a letter or two without being typos of each other. */
const editsAllowed = ({ length }: string): number => (length <= 2 ? 0 : length < 8 ? 1 : Math.floor(length / 4));

/** Whether this many insertions, deletions, replacements or swaps of neighbors turn one text into the other. */
function isWithin(edits: number, one: string, other: string, oneAt = 0, otherAt = 0): boolean {
  let same = 0;
  while (oneAt + same < one.length && one[oneAt + same] === other[otherAt + same]) same += 1;
  const [at, there] = [oneAt + same, otherAt + same];
  if (at === one.length && there === other.length) return true;
  return (
    edits > 0 &&
    Math.abs(one.length - at - (other.length - there)) <= edits &&
    (isWithin(edits - 1, one, other, at + 1, there + 1) ||
      isWithin(edits - 1, one, other, at + 1, there) ||
      isWithin(edits - 1, one, other, at, there + 1) ||
      (one[at] === other[there + 1] &&
        one[at + 1] === other[there] &&
        isWithin(edits - 1, one, other, at + 2, there + 2)))
  );
}
