import type { Client, KnownLock, List, Within, WorkspaceId } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';

/** Up to so many paths are asked for one by one; for more, one list is shorter. */
const maxSingleRequests = 8;

/** The folder that all of them are in, with its slash; empty where they have none in common. */
export function commonFolder(paths: readonly string[]): string {
  const [first = '', ...others] = paths;
  let length = first.lastIndexOf('/') + 1;
  for (const path of others) {
    while (!path.startsWith(first.slice(0, length))) length = first.lastIndexOf('/', length - 2) + 1;
  }
  return first.slice(0, length);
}

/** The locks on these paths, in one list of the folder that they are in. */
export async function listTogether(
  client: Client,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  within: Within,
): Promise<List<KnownLock>> {
  const wanted: ReadonlySet<string> = new Set(paths);
  const prefix = commonFolder(paths);
  const filter = prefix === '' ? {} : { prefix };
  const { items, incomplete } = await client.listLocks({ workspace, filter }, within);
  return { items: items.filter(({ path }) => wanted.has(path)), incomplete };
}

/** The locks on these paths, with as few requests as that takes. */
export async function listOnPaths(
  client: Client,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  within: Within,
): Promise<List<KnownLock>> {
  if (paths.length > maxSingleRequests) return listTogether(client, workspace, paths, within);
  const lists = await Promise.all(paths.map((path) => client.listLocks({ workspace, filter: { path } }, within)));
  return {
    items: lists.flatMap(({ items }) => items),
    incomplete: lists.find(({ incomplete }) => incomplete !== undefined)?.incomplete,
  };
}
