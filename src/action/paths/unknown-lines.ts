import { closestNames } from '../../interface/closest-name.ts';
import { pluralize } from '../../interface/format.ts';
import { canonicalLockPath } from '../../interface/lock-path.ts';
import { quoted } from '../inputs/reader.ts';
import type { Checkout } from './checkout.ts';

/** A list of thousands would not help, and each line reads folders of the checkout. */
const maxListed = 5;

/** One warning about all lines that name neither a file of the checkout nor a lock of the job. */
export function unknownLinesText(lines: readonly string[], checkout: Checkout): string {
  const listed = lines.slice(0, maxListed).map((line) => {
    const suggestion = suggestionFor(line, checkout);
    return quoted(line) + (suggestion === undefined ? '' : ` (${suggestion})`);
  });
  const more = lines.length > maxListed ? ` and ${pluralize(lines.length - maxListed, 'more', 'more')}` : '';
  const number = pluralize(lines.length, 'line', 'lines');
  return `${number} of \`path\` ${lines.length === 1 ? 'names' : 'name'} no file of the checkout in ${checkout.folder}: ${listed.join(', ')}${more}. To use paths that have no file, set \`glob: false\`.`;
}

/** A suggestion for the line; undefined if nothing in the checkout is close. */
export function suggestionFor(line: string, checkout: Checkout): string | undefined {
  const path = canonicalLockPath(line);
  const closest = path.ok ? closestPath(path.value, checkout) : undefined;
  return closest === undefined ? undefined : `did you mean ${quoted(closest)}?`;
}

const maxEdits = 2;

/** The entry of the checkout with the closest name in each folder along the path. */
function closestPath(path: string, { namesIn, find }: Checkout): string | undefined {
  let closest = '';
  for (const name of path.split('/')) {
    const [next, ...others] = closestNames(name, namesIn(closest), maxEdits);
    // Files with numbers are close to each other: any of them would be a guess.
    if (next === undefined || others.length > 0) return undefined;
    closest = closest === '' ? next : `${closest}/${next}`;
  }
  return find(closest) === 'folder' ? `${closest}/**` : closest;
}
