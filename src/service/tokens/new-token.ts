import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Scope } from '../contract/scopes.ts';
import type { Database } from '../storage/storage.ts';

/** The name is also the default owner of the token's locks. */
export const parseTokenName = (text: string): Parsed<string> =>
  parseShownName(text, "A token's name", 'A token needs a name: it is shown as the owner of its locks.');

export const parseTokenOwner = (text: string): Parsed<string> =>
  parseShownName(text, "A token's owner", 'Name the owner, or leave it out: then the owner is the name of the token.');

/** Why a token with these scopes cannot be limited to these workspaces; undefined if it can. */
export function scopeLimitProblem(scopes: readonly Scope[], workspaces: readonly string[] | null): string | undefined {
  if (workspaces === null || !scopes.includes('admin')) return undefined;
  return 'A token with the scope admin cannot be limited to some workspaces: it can create tokens for all workspaces.';
}

/** A token with a mistyped id would see no workspace at first, but later any workspace created with that id. */
export async function unknownWorkspaces(
  db: Database,
  ids: readonly string[],
): Promise<{ readonly unknown: readonly string[]; readonly known: readonly string[] }> {
  const known = (await db.selectFrom('workspaces').select('id').orderBy('id').execute()).map(({ id }) => id);
  return { unknown: ids.filter((id) => !known.includes(id)), known };
}

const maxNameLength = 100;

/** NFC never shortens a text to less than a quarter, so longer texts are rejected without normalizing them. */
const maxUncomposedLength = 4 * maxNameLength;

/** The name is shown to everyone who is blocked by a lock of the token. */
function parseShownName(text: string, what: string, whenEmpty: string): Parsed<string> {
  const trimmed = text.trim();
  const name = trimmed.length > maxUncomposedLength ? trimmed : trimmed.normalize('NFC').trim();
  if (name === '') return refused(whenEmpty);
  if (name.length > maxNameLength) return refused(`${what} has at most ${maxNameLength} characters.`);
  if (/\p{C}/u.test(name)) return refused(`${what} must not have control or invisible characters.`);
  return accepted(name);
}
