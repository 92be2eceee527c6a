import type { KnownLock } from '../../client/client.ts';
import type { ListLocksTask } from '../inputs/task.ts';
import { heldText } from '../locks/holder-text.ts';
import { listOnPaths } from '../locks/listed-locks.ts';
import type { FileNote, Outcome } from '../outcome.ts';
import { clockTime, count, distance } from '../report/words.ts';
import { type LockExtent, lookUp } from './lock-extent.ts';
import { ordinaryLimits, type Parts } from './parts.ts';
import { toldJson } from './told-json.ts';

/** The fields that the action promises, and whatever else the service said. */
const asOutput = ({
  raw,
  path,
  type,
  id,
  etag,
  owner,
  acquired_at,
  fence,
  expires_at,
}: KnownLock): Record<string, unknown> => ({
  ...raw,
  path,
  ...Object.fromEntries(
    Object.entries({ type, id, etag, owner, acquired_at, fence, expires_at }).filter(
      ([, value]) => value !== undefined,
    ),
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

interface Found {
  readonly locks: readonly KnownLock[];
  /** How many were left out, because their owners do not count. */
  readonly ignored: number;
  readonly incomplete: string | undefined;
}

function sentenceOf({ locks, ignored, incomplete }: Found, where: string): string {
  if (locks.length > 0) return `${count(locks.length, 'lock')} in ${where}.`;
  const apart = ignored > 0 ? `, apart from ${count(ignored, 'lock')} of ignored owners` : '';
  return incomplete === undefined
    ? `Nothing is locked in ${where}${apart}.`
    : `No lock was seen in ${where}${apart}, and not all of them could be read.`;
}

/** A list that may not be whole says of no file that it is free. */
function failuresOf({ locks, incomplete }: Found): readonly string[] {
  if (locks.length > 0) {
    return [`${count(locks.length, 'file is', 'files are')} locked, and \`fail-if-locked\` is set.`];
  }
  return incomplete === undefined
    ? []
    : [`${incomplete} With \`fail-if-locked\`, a file passes only if it is known not to be locked.`];
}

/** Lists the locks, of all the workspace, of some paths or of what a change touches, but for those of owners that do not count. */
export async function listLocks(parts: Parts, task: ListLocksTask, extent: LockExtent): Promise<Outcome> {
  const { client, log, conceal } = parts;
  const { workspace, ignoredOwners, failIfLocked } = task;
  const within = ordinaryLimits(parts);
  const { paths, among } = await lookUp(extent, parts, within);
  const { items, incomplete } =
    paths === undefined
      ? await client.listLocks({ workspace }, within)
      : await listOnPaths(client, workspace, paths, within);
  if (incomplete !== undefined) log.warn(incomplete);
  const locks = items
    .filter(({ owner }) => owner === undefined || !ignoredOwners.includes(owner))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const found: Found = { locks, ignored: items.length - locks.length, incomplete };
  const now = client.serverNow();
  const sentence = sentenceOf(found, `${workspace}${among}`);
  log.group(
    sentence,
    locks.map((lock) => heldText(lock.path, lock, now)),
  );
  const failures = failIfLocked ? failuresOf(found) : [];
  const known = locks.length > 0 ? { status: 'locked' } : failures.length === 0 ? { status: 'free' } : {};
  return {
    outputs: { ...known, count: String(locks.length), locks: toldJson(locks.map(asOutput), conceal) },
    sentence,
    tables: [table(locks, now)],
    failures,
    notes: failIfLocked ? locks.map((lock) => note(lock, now)) : [],
  };
}
