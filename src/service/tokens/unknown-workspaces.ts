import type { Database } from '../storage/storage.ts';

/** A mistyped id would make a token that sees nothing, and that would see a workspace made later by that name. */
export async function unknownWorkspaces(
  db: Database,
  ids: readonly string[],
): Promise<{ readonly unknown: readonly string[]; readonly known: readonly string[] }> {
  const known = (await db.selectFrom('workspaces').select('id').orderBy('id').execute()).map(({ id }) => id);
  return { unknown: ids.filter((id) => !known.includes(id)), known };
}
