import type { KnownLock, LockProof, ServiceError } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { UnlockTask } from '../inputs/task.ts';
import type { Entry, Grant } from '../ledger/entry.ts';
import type { HandedLock } from '../locks/handed-locks.ts';
import { heldText } from '../locks/holder-text.ts';
import { inParallel } from '../locks/in-parallel.ts';
import { createRecorder } from '../locks/keeper.ts';
import type { Outcome, Outputs, Table } from '../outcome.ts';
import { count, distance } from '../report/words.ts';
import { ordinaryLimits, type Parts } from './parts.ts';

export interface ToRelease {
  readonly path: LockPath;
  /** What shows that it is the lock that is meant; none when only the path is known. */
  readonly proof: LockProof | undefined;
  /** Undefined when it is not known when the lock ends. */
  readonly expires_at: string | undefined;
}

type Result = { readonly path: LockPath } & (
  | { readonly kind: 'released' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined }
  /** Its lifetime is over, and nothing shows that what is there now is ours. */
  | { readonly kind: 'left-alone' }
  | { readonly kind: 'failed'; readonly error: ServiceError }
);

/** The locks that this job has on the paths, as its ledger knows them: an unlock of a path releases these and no other. */
export function locksOfJob(entries: readonly Entry[], service: string, workspace: string): ReadonlyMap<string, Grant> {
  const held = new Map<string, Grant>();
  for (const entry of entries) {
    if (entry.service !== service || entry.workspace !== workspace) continue;
    if (entry.kind === 'granted') held.set(entry.path, entry);
    if (entry.kind === 'ended') held.delete(entry.path);
  }
  return held;
}

export const fromLedger = (path: LockPath, grant: Grant | undefined): ToRelease => ({
  path,
  proof: grant?.lock,
  expires_at: grant?.lock.expires_at,
});

export const fromHandedLock = ({ path, id, etag, expires_at }: HandedLock): ToRelease => ({
  path,
  proof: { id, etag },
  expires_at,
});

const isProven = (proof: LockProof | undefined): boolean => proof?.etag !== undefined || proof?.id !== undefined;

const words: Readonly<Record<Result['kind'], string>> = {
  released: 'released',
  absent: 'was not locked',
  lost: 'held by somebody else, left alone',
  'left-alone': 'past its lifetime, left alone',
  failed: 'not released',
};

/** None where nothing is known but that a release was refused. */
function statusOf(results: readonly Result[]): Outputs {
  const some = (kind: Result['kind']): boolean => results.some((result) => result.kind === kind);
  if (some('lost')) return { status: 'lost' };
  if (some('released')) return { status: 'released' };
  return some('failed') ? {} : { status: 'absent' };
}

function outcomeOf(results: readonly Result[], workspace: string, now: number): Outcome {
  const of = (kind: Result['kind']): readonly Result[] => results.filter((result) => result.kind === kind);
  const released = of('released');
  const failures = results.flatMap((result) => {
    switch (result.kind) {
      case 'lost':
        return [`${heldText(result.path, result.holder, now)}: the lock was lost, and has been left alone.`];
      case 'failed':
        return [`The lock on ${result.path} was not released. ${result.error.message}`];
      default:
        return [];
    }
  });
  const parts = [
    `Released ${count(released.length, 'lock')} in ${workspace}`,
    ...(of('absent').length > 0 ? [`${of('absent').length} not locked`] : []),
    ...(of('lost').length > 0 ? [`${of('lost').length} lost`] : []),
    ...(of('left-alone').length > 0 ? [`${of('left-alone').length} past their lifetime`] : []),
    ...(of('failed').length > 0 ? [`${of('failed').length} not released`] : []),
  ];
  const table: Table = { head: ['Path', 'Result'], rows: results.map(({ path, kind }) => [path, words[kind]]) };
  return {
    outputs: { ...statusOf(results), released: JSON.stringify(released.map(({ path }) => path)) },
    sentence: `${parts.join(', ')}.`,
    tables: [table],
    failures,
    notes: [],
  };
}

/** Releases all of them, whatever becomes of each, and fails afterwards when one was lost or refused. */
export async function unlock(
  parts: Parts,
  { workspace, force }: UnlockTask,
  toRelease: readonly ToRelease[],
  service: string,
): Promise<Outcome> {
  const { client, log } = parts;
  const within = ordinaryLimits(parts);
  const record = createRecorder(parts);
  const results: Result[] = [];

  async function release({ path, proof, expires_at }: ToRelease): Promise<Result> {
    const over = expires_at !== undefined && Date.parse(expires_at) <= client.serverNow();
    if (over && !isProven(proof)) {
      log.warn(
        `The lock on ${path} ended ${distance(Date.parse(expires_at), client.serverNow())}, and nothing shows that a lock that is there now is this one: it is left alone.`,
      );
      return { path, kind: 'left-alone' };
    }
    const outcome = await client.releaseLock({ workspace, path, proof, force }, within);
    if (outcome.kind !== 'failed') {
      const at = new Date(client.serverNow()).toISOString();
      record({ kind: 'ended', service, workspace, path, at, how: outcome.kind, id: proof?.id, etag: proof?.etag });
    }
    return { path, ...outcome };
  }

  await inParallel(toRelease, async (lock) => {
    results.push(await release(lock));
  });
  results.sort((one, other) => (one.path < other.path ? -1 : 1));
  const outcome = outcomeOf(results, workspace, client.serverNow());
  log.group(
    outcome.sentence,
    results.map(({ path, kind }) => `${path}: ${words[kind]}`),
  );
  return outcome;
}
