import type { KnownLock, WorkspaceId } from '../../client/client.ts';
import { formatDuration } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { HeldLock } from '../ledger/history.ts';
import { readJobLocks } from '../ledger/job-locks.ts';
import { ordinaryLimits, type Parts } from '../operations/parts.ts';
import { count, moment } from '../report/words.ts';
import { listOnPaths } from './listed-locks.ts';
import { compare, isOver } from './ownership.ts';
import { type Found, findIn } from './release-found.ts';

/** A lock of an earlier step of this job. It stands until that job releases it: nobody needs to wait for it. */
export interface AlreadyHeld {
  readonly path: LockPath;
  readonly owner: string | undefined;
  readonly expiresAt: number;
  /** What the workflow calls the step; undefined where that is not known. */
  readonly stepName: string | undefined;
}

/** If the list cannot be had in this time, the locks are asked for as if nothing were known. */
const maxLookMs = 10_000;

/** What the ledger has is believed where the service does not tell locks apart, or does not list them. */
function stands({ grant, releaseBegun }: HeldLock, found: Found, serverNow: number): boolean {
  const believed = !releaseBegun && !isOver(grant.lock, serverNow);
  switch (found.kind) {
    case 'absent':
    case 'failed':
      return false;
    case 'unknown':
      return believed;
    case 'locked': {
      const { kind } = compare({ ...grant.lock, grantedAt: grant.at }, found.lock);
      return kind === 'ours' || (kind === 'unknown' && believed);
    }
  }
}

const listedLock = (found: Found): KnownLock | undefined => (found.kind === 'locked' ? found.lock : undefined);

/**
 * The locks that earlier steps of this job have on the paths. The ledger names them, and the service says whether they
 * still stand: one that has expired, or was released by force, is no reason not to lock the path anew.
 */
export async function findAlreadyHeld(
  parts: Pick<Parts, 'client' | 'clock' | 'signal' | 'requestTimeoutMs' | 'ledger'>,
  service: string,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
): Promise<readonly AlreadyHeld[]> {
  const { client, clock, ledger } = parts;
  const { held, stepNames } = readJobLocks(ledger, service, workspace);
  const candidates = paths.filter((path) => held.has(path));
  if (candidates.length === 0) return [];
  const { deadline, signal } = ordinaryLimits(parts);
  const within = { signal, deadline: Math.min(deadline, clock() + maxLookMs) };
  const find = await findIn(listOnPaths(client, workspace, candidates, within));
  return candidates.flatMap((path) => {
    const lock = held.get(path);
    const found = find(path);
    if (lock === undefined || !stands(lock, found, client.serverNow())) return [];
    const { grant } = lock;
    const listed = listedLock(found);
    return {
      path,
      owner: listed?.owner ?? grant.lock.owner,
      expiresAt: Date.parse(listed?.expires_at ?? grant.lock.expires_at),
      stepName: stepNames.get(grant.step),
    };
  });
}

/** The runner itself names a step that has no id, and begins such names with two underscores. */
export function stepText(name: string | undefined): string {
  if (name === undefined) return 'an earlier step';
  return name.startsWith('__') ? `an earlier step without an \`id\` (${name})` : `the step \`${name}\``;
}

const maxNamed = 3;

function namedPaths(own: readonly AlreadyHeld[]): string {
  const more = own.length - maxNamed;
  const names = own.slice(0, maxNamed).map(({ path }) => path);
  return names.join(', ') + (more > 0 ? ` and ${count(more, 'more', 'more')}` : '');
}

/** Says whose the locks are, until when, and what to do: there is nothing to wait for. */
export function alreadyHeldText(
  own: readonly AlreadyHeld[],
  asked: { readonly paths: readonly LockPath[]; readonly ttl: Ttl },
  now: number,
): string {
  const steps = [...new Set(own.map(({ stepName }) => stepText(stepName)))].join(' and ');
  const soonest = Math.min(...own.map(({ expiresAt }) => expiresAt));
  const until = Number.isNaN(soonest) ? '' : `, until ${moment(soonest, now)}`;
  const who = `This job holds ${namedPaths(own)} already: ${steps} locked ${own.length === 1 ? 'it' : 'them'}${until}.`;
  const release = 'release what is not needed any more with `operation: unlock`';
  if (own.length < asked.paths.length) {
    return `${who} Name only the other paths here, or ${release} before this step.`;
  }
  // Half of it: some of the lifetime is over whenever a later step asks.
  return soonest - now >= (asked.ttl.seconds * 1_000) / 2
    ? `${who} That is everything that this step names, for at least half of its \`ttl\` of ${formatDuration(asked.ttl)}: leave this step out, or ${release} before it.`
    : `${who} That is everything that this step names: leave it out and raise the \`ttl\` of the earlier step, or ${release} before it.`;
}
