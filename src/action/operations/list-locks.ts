import type { KnownLock } from '../../client/known-lock.ts';
import { listOnPaths } from '../../client/lists.ts';
import type { CallLimits } from '../../client/request.ts';
import { formatNumber, pluralize } from '../../interface/format.ts';
import { byPath } from '../../interface/lock-path.ts';
import { heldText } from '../../locks/messages.ts';
import { findSource } from '../changed-files/change.ts';
import { InputError } from '../inputs/read.ts';
import type { TaskOf } from '../inputs/task.ts';
import { resolvePaths } from '../paths/resolve-paths.ts';
import type { FileAnnotation, Outcome } from '../report/outcome.ts';
import { holderTable, locksOutput } from '../report/results.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { jobLocksIn } from './job-locks.ts';

/** Lists the locks of the workspace, of some paths or of the changed files, except those of ignored owners. */
export async function listLocks(context: Context, task: TaskOf<'list-locks'>): Promise<Outcome> {
  const { client } = context;
  const { workspace, 'fail-if-locked': failIfLocked } = task;
  const within = defaultLimits(context);
  const { paths, among } = await pathsToList(task, context, within);
  const { items, incomplete } =
    paths === undefined
      ? await client.listLocks({ workspace }, within)
      : await listOnPaths(client, workspace, paths, within);
  // Most owners here are logins of people, which are case-insensitive.
  const ignored = new Set(task['ignore-owner'].map((owner) => owner.toLowerCase()));
  const locks = items.filter(({ owner }) => owner === undefined || !ignored.has(owner.toLowerCase())).sort(byPath);
  const now = client.serverNow();
  const failures = failIfLocked ? failuresOf(locks, incomplete) : [];
  const sentence = sentenceOf(locks, items.length - locks.length, incomplete, `${workspace}${among}`);
  return {
    outputs: {
      status: locks.length > 0 ? 'locked' : failures.length > 0 ? undefined : 'free',
      count: String(locks.length),
      locks: locksOutput(locks.map(asOutput)),
    },
    sentence: [sentence, ...failures].join(' '),
    lines: locks.map((lock) => heldText(lock.path, lock, now)),
    warnings: incomplete === undefined ? [] : [incomplete],
    table: holderTable(locks.map((lock) => ({ path: lock.path, holder: lock }))),
    failures,
    annotations: failIfLocked ? locks.map((lock) => annotation(lock, now)) : [],
  };
}

/**
 * An incomplete list does not prove that a file is free. Releasing a lock does not change a run that has ended. The
 * quoted words are labels on GitHub's pages.
 */
function failuresOf({ length }: readonly KnownLock[], incomplete: string | undefined): readonly string[] {
  if (length > 0) {
    const locked = pluralize(length, 'file is', 'files are');
    return [
      `${locked} locked, and \`fail-if-locked\` is set. Once ${length === 1 ? 'it is' : 'they are'} released, run this job again: "Re-run jobs", then "Re-run failed jobs".`,
    ];
  }
  return incomplete === undefined
    ? []
    : [`${incomplete} With \`fail-if-locked\`, the step succeeds only if the list is complete.`];
}

/** The paths to list; undefined for all locks. `among` is the text after the name of the workspace in a sentence. */
async function pathsToList(task: TaskOf<'list-locks'>, context: Context, within: CallLimits) {
  const { runner, connection, log } = context;
  if (task['changed-files']) {
    const source = findSource(runner.event, task['github-token'], connection.allowHttp);
    if (!source.ok) throw new InputError([`Input \`changed-files\` is "true". ${source.reason}`]);
    // Loaded on demand: only steps with `changed-files` need it.
    const { lookUpChangedFiles } = await import('../changed-files/changed-files.ts');
    const { change, repository } = source.value;
    const { files, paths } = await lookUpChangedFiles(source.value, context, within);
    log.line(`Files changed by ${change.name} of ${repository.owner}/${repository.repo}: ${formatNumber(files)}.`);
    return { paths, among: `, among ${pluralize(files, 'file')} of ${change.name}` };
  }
  const { paths } = await resolvePaths(task.path, { ...context, ...task, ...jobLocksIn(context, task.workspace) });
  if (paths.size === 0) return { paths: undefined, among: '' };
  return { paths: [...paths.keys()], among: `, among ${pluralize(paths.size, 'path')}` };
}

/** The documented fields, and all other fields that the service sent. */
function asOutput(lock: KnownLock) {
  const { raw, path, type, id, etag, owner, note, acquired_at, fence, expires_at } = lock;
  const known = Object.entries({ type, id, etag, owner, note, acquired_at, fence, expires_at });
  // Omits an id or ETag that cannot be sent as proof.
  return { ...raw, path, id, etag, ...Object.fromEntries(known.filter(([, value]) => value !== undefined)) };
}

const annotation = (lock: KnownLock, now: number): FileAnnotation => ({
  file: lock.path,
  title: 'Locked',
  text: `${heldText(lock.path, lock, now)}.`,
});

function sentenceOf(
  { length }: readonly KnownLock[],
  ignored: number,
  incomplete: string | undefined,
  where: string,
): string {
  if (length > 0) return `${pluralize(length, 'lock')} in ${where}.`;
  const except = ignored > 0 ? `, apart from ${pluralize(ignored, 'lock')} of ignored owners` : '';
  return incomplete === undefined
    ? `Nothing is locked in ${where}${except}.`
    : `No lock was found in ${where}${except}, but the list may be incomplete.`;
}
