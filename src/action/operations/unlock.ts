import type { LockPath } from '../../interface/lock-path.ts';
import type { UnlockTask } from '../inputs/task.ts';
import { createRecorder } from '../ledger/recorder.ts';
import { heldText } from '../locks/holder-text.ts';
import { inParallel } from '../locks/in-parallel.ts';
import type { MeantLock } from '../locks/meant-lock.ts';
import { type Release, releaseOne } from '../locks/release-one.ts';
import type { Outcome, Outputs, Table } from '../outcome.ts';
import { count } from '../report/words.ts';
import { ordinaryLimits, type Parts } from './parts.ts';

type Result = { readonly path: LockPath } & (Release | { readonly kind: 'not-ours' });

const words: Readonly<Record<Result['kind'], string>> = {
  released: 'released',
  absent: 'was not locked',
  lost: 'held by somebody else, left alone',
  'left-alone': 'not to be told from the lock of somebody else, left alone',
  'not-ours': 'not locked by this job, left alone',
  failed: 'not released',
};

/** None where nothing is known but that a release was refused. */
function statusOf(results: readonly Result[]): Outputs {
  const some = (kind: Result['kind']): boolean => results.some((result) => result.kind === kind);
  if (some('lost')) return { status: 'lost' };
  if (some('released')) return { status: 'released' };
  return some('failed') ? {} : { status: 'absent' };
}

function releasedText(results: readonly Result[]): string {
  const released = results.filter(({ kind }) => kind === 'released');
  const [first] = released;
  if (first === undefined) return 'Nothing was released';
  return `Released ${results.length === 1 ? first.path : count(released.length, 'lock')}`;
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
    `${releasedText(results)} in ${workspace}`,
    ...(of('absent').length > 0 ? [`${of('absent').length} not locked`] : []),
    ...(of('lost').length > 0 ? [`${of('lost').length} lost`] : []),
    ...(of('not-ours').length > 0 ? [`${of('not-ours').length} not of this job`] : []),
    ...(of('left-alone').length > 0 ? [`${of('left-alone').length} left alone`] : []),
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
  toRelease: readonly MeantLock[],
  service: string,
): Promise<Outcome> {
  const { client, log } = parts;
  const within = ordinaryLimits(parts);
  const record = createRecorder(parts.ledger, log);
  const results: Result[] = [];

  async function release(meant: MeantLock): Promise<Result> {
    const { path } = meant;
    if (meant.kind === 'not-ours') return { path, kind: 'not-ours' };
    const at = (): string => new Date(client.serverNow()).toISOString();
    const { id, etag } = meant.kind === 'lock' ? meant.lock : {};
    const what = { service, workspace, path, id, etag };
    record({ kind: 'releasing', ...what, at: at() });
    const outcome =
      meant.kind === 'lock'
        ? await releaseOne(parts, { ...meant, workspace, force }, within)
        : await client.releaseLock({ workspace, path, force }, within);
    if (outcome.kind === 'left-alone') {
      log.warn(
        `Nothing shows that the lock that is on ${path} now is the one that is meant, and it may be somebody else's: it is left alone.`,
      );
    } else if (outcome.kind !== 'failed') record({ kind: 'ended', ...what, how: outcome.kind, at: at() });
    return { path, ...outcome };
  }

  await inParallel(toRelease, async (lock) => {
    results.push(await release(lock));
  });
  results.sort((one, other) => (one.path < other.path ? -1 : 1));
  const others = results.filter(({ kind }) => kind === 'not-ours');
  if (others.length > 0) {
    log.warn(
      `This job wanted to lock ${others.length === 1 ? others[0]?.path : count(others.length, 'of the paths', 'of the paths')} and has no lock there: a lock that is there is somebody else's, and is left alone. \`force: true\` would release it all the same.`,
    );
  }
  const outcome = outcomeOf(results, workspace, client.serverNow());
  log.group(
    outcome.sentence,
    results.map(({ path, kind }) => `${path}: ${words[kind]}`),
  );
  return outcome;
}
