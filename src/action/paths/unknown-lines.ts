import { canonicalLockPath } from '../../interface/lock-path.ts';
import { pluralize } from '../../interface/words.ts';
import { partsOf } from '../inputs/parse.ts';
import { quoted } from '../inputs/reader.ts';
import type { Checkout } from './checkout.ts';

/** A list of thousands would not help, and each line reads folders of the checkout. */
const maxListed = 5;

/** One warning about all lines that name neither a file of the checkout nor a lock of the job. */
export function unknownLinesText(lines: readonly string[], checkout: Checkout): string {
  const shown = lines.slice(0, maxListed).map((line) => {
    const suggestion = suggestionFor(line, checkout);
    return quoted(line) + (suggestion === undefined ? '' : ` (${suggestion})`);
  });
  const more = lines.length > maxListed ? ` and ${pluralize(lines.length - maxListed, 'more', 'more')}` : '';
  const number = pluralize(lines.length, 'line', 'lines');
  return `${number} of \`path\` ${lines.length === 1 ? 'names' : 'name'} no file of the checkout in ${checkout.folder}: ${shown.join(', ')}${more}. To use paths that have no file, set \`glob: false\`.`;
}

/** A suggestion for the line; undefined if nothing in the checkout is close. */
export function suggestionFor(line: string, checkout: Checkout): string | undefined {
  if (areSeveralFiles(partsOf(line, /,/), checkout) || areSeveralFiles(partsOf(line, /\s/), checkout)) {
    return 'write each path on a line of its own';
  }
  const path = canonicalLockPath(line);
  const closest = path.ok ? closestPath(path.value, checkout) : undefined;
  return closest === undefined ? undefined : `did you mean ${quoted(closest)}?`;
}

/** The entry of the checkout with the closest name in each folder along the path. */
function closestPath(path: string, { namesIn, find }: Checkout): string | undefined {
  let closest = '';
  for (const name of path.split('/')) {
    const next = closestName(name, namesIn(closest));
    if (next === undefined) return undefined;
    closest = closest === '' ? next : `${closest}/${next}`;
  }
  return find(closest) === 'folder' ? `${closest}/**` : closest;
}

/** The name itself, or else the one closest to it in case or spelling; undefined if several are equally close. */
export function closestName(name: string, names: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  const near: string[][] = Array.from({ length: editsAllowed(wanted) + 1 }, () => []);
  for (const each of names) {
    if (each === name) return each;
    const lower = each.toLowerCase();
    near.find((_, edits) => isWithin(edits, wanted, lower))?.push(each);
  }
  const best = near.find((group) => group.length > 0) ?? [];
  return best.length === 1 ? best[0] : undefined;
}

const maxEdits = 2;

/** Short names can differ by one or two letters without being typos of each other. */
const editsAllowed = (name: string): number => (name.length <= 2 ? 0 : name.length < 8 ? 1 : maxEdits);

/** Whether this many insertions, deletions or replacements turn one text into the other, in at most 9 passes. */
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
      isWithin(edits - 1, one, other, at, there + 1))
  );
}

function areSeveralFiles(parts: readonly string[], { find }: Checkout): boolean {
  const isFile = (part: string): boolean => {
    const path = canonicalLockPath(part);
    return path.ok && find(path.value) === 'file';
  };
  return parts.length > 1 && parts.every(isFile);
}
