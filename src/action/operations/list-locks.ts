import type { KnownLock, List } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { ListLocksTask } from '../inputs/task.ts';
import { heldText } from '../locks/holder-text.ts';
import type { FileNote, Outcome } from '../outcome.ts';
import { clockTime, count, distance } from '../report/words.ts';
import { ordinaryLimits, type Parts } from './parts.ts';
import { toldJson } from './told-json.ts';

/** Up to so many paths are asked for one by one; for more, the whole list is shorter. */
const mostSingle = 8;

async function listThose(
  parts: Parts,
  { workspace }: ListLocksTask,
  paths: readonly LockPath[],
): Promise<List<KnownLock>> {
  const { client } = parts;
  const within = ordinaryLimits(parts);
  if (paths.length === 0) return client.listLocks({ workspace }, within);
  if (paths.length > mostSingle) {
    const wanted: ReadonlySet<string> = new Set(paths);
    const { items, incomplete } = await client.listLocks({ workspace }, within);
    return { items: items.filter(({ path }) => wanted.has(path)), incomplete };
  }
  const lists = await Promise.all(paths.map((path) => client.listLocks({ workspace, filter: { path } }, within)));
  return {
    items: lists.flatMap(({ items }) => items),
    incomplete: lists.find(({ incomplete }) => incomplete !== undefined)?.incomplete,
  };
}

/** The fields that the action promises, and whatever else the service said. */
const asOutput = ({
  raw,
  path,
  type,
  id,
  etag,
  owner,
  acquired_at,
  expires_at,
}: KnownLock): Record<string, unknown> => ({
  ...raw,
  path,
  ...Object.fromEntries(
    Object.entries({ type, id, etag, owner, acquired_at, expires_at }).filter(([, value]) => value !== undefined),
  ),
});

function table(locks: readonly KnownLock[], now: number) {
  return {
    head: ['Path', 'Holder', 'Until', '', 'Taken by'],
    rows: locks.map(({ path, owner, expires_at, origin }) => {
      const end = expires_at === undefined ? undefined : Date.parse(expires_at);
      return [
        path,
        owner ?? '',
        end === undefined ? '' : clockTime(end, now),
        end === undefined ? '' : distance(end, now),
        origin ?? '',
      ];
    }),
  };
}

const note = (lock: KnownLock, now: number): FileNote => ({
  file: lock.path,
  title: 'Locked',
  text: `${heldText(lock.path, lock, now)}.`,
});

/** Lists the locks, of all the workspace or of some paths, but for those of owners that do not count. */
export async function listLocks(parts: Parts, task: ListLocksTask, paths: readonly LockPath[]): Promise<Outcome> {
  const { client, log, conceal } = parts;
  const { workspace, ignoredOwners, failIfLocked } = task;
  const { items, incomplete } = await listThose(parts, task, paths);
  if (incomplete !== undefined) log.warn(incomplete);
  const locks = items
    .filter(({ owner }) => owner === undefined || !ignoredOwners.includes(owner))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const now = client.serverNow();
  const ignored = items.length - locks.length;
  const where = paths.length === 0 ? workspace : `${workspace}, among ${count(paths.length, 'path')}`;
  const sentence =
    locks.length === 0
      ? `Nothing is locked in ${where}${ignored > 0 ? `, apart from ${count(ignored, 'lock')} of ignored owners` : ''}.`
      : `${count(locks.length, 'lock')} in ${where}.`;
  log.group(
    sentence,
    locks.map((lock) => heldText(lock.path, lock, now)),
  );
  const fails = failIfLocked && locks.length > 0;
  return {
    outputs: {
      status: locks.length === 0 ? 'free' : 'locked',
      count: String(locks.length),
      locks: toldJson(locks.map(asOutput), conceal),
    },
    sentence,
    tables: [table(locks, now)],
    failures: fails ? [`${count(locks.length, 'file is', 'files are')} locked, and \`fail-if-locked\` is set.`] : [],
    notes: fails ? locks.map((lock) => note(lock, now)) : [],
  };
}
