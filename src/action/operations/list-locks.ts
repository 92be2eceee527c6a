import type { KnownLock } from '../../client/known-lock.ts';
import { listOnPaths } from '../../client/lists.ts';
import type { CallLimits } from '../../client/request.ts';
import { pluralize } from '../../interface/format.ts';
import { byPath, type LockPath } from '../../interface/lock-path.ts';
import { heldText } from '../../locks/messages.ts';
import { findSource } from '../changed-files/change.ts';
import { InputError } from '../inputs/table.ts';
import type { TaskOf } from '../inputs/task.ts';
import { resolvePaths } from '../paths/resolve-paths.ts';
import type { FileAnnotation, Outcome } from '../report/outcome.ts';
import { redactedJson } from '../report/redact.ts';
import { holderTable, locksOutput, locksPage } from '../report/results.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { jobLocksIn } from './job-locks.ts';

interface Found {
  readonly locks: readonly KnownLock[];
  /** The number of locks left out because of their owners. */
  readonly ignored: number;
  readonly incomplete: string | undefined;
}

/** Lists the locks of the workspace, of some paths or of the changed files, without those of ignored owners. */
export async function listLocks(context: Context, task: TaskOf<'list-locks'>): Promise<Outcome> {
  const { client, connection, redact } = context;
  const { workspace, ignoredOwners, failIfLocked } = task;
  const { paths, among, within } = await pathsToList(task, context);
  const { items, incomplete } =
    paths === undefined
      ? await client.listLocks({ workspace }, within)
      : await listOnPaths(client, workspace, paths, within);
  // Most owners here are logins of people, which are case-insensitive.
  const ignored = new Set(ignoredOwners.map((owner) => owner.toLowerCase()));
  const locks = items.filter(({ owner }) => owner === undefined || !ignored.has(owner.toLowerCase())).sort(byPath);
  const found: Found = { locks, ignored: items.length - locks.length, incomplete };
  const now = client.serverNow();
  const sentence = sentenceOf(found, `${workspace}${among}`);
  const rest = locksPage(connection.baseUrl, workspace);
  const failures = failIfLocked ? failuresOf(found) : [];
  const known = locks.length > 0 ? { status: 'locked' } : failures.length === 0 ? { status: 'free' } : {};
  return {
    outputs: {
      ...known,
      count: String(locks.length),
      locks: locksOutput(locks.map(asOutput), (entries) => redactedJson(entries, redact)),
    },
    sentence: failIfLocked && locks.length > 0 ? `${sentence} ${rerunAdvice(locks)}` : sentence,
    lines: locks.map((lock) => heldText(lock.path, lock, now)),
    warnings: incomplete === undefined ? [] : [incomplete],
    table: { ...holderTable(locks.map((lock) => ({ path: lock.path, holder: lock }))), rest },
    failures,
    annotations: failIfLocked ? locks.map((lock) => annotation(lock, now)) : [],
  };
}

/** An incomplete list does not prove that a file is free. */
function failuresOf({ locks, incomplete }: Found): readonly string[] {
  if (locks.length > 0) {
    const locked = pluralize(locks.length, 'file is', 'files are');
    return [`${locked} locked, and \`fail-if-locked\` is set. ${rerunAdvice(locks)}`];
  }
  return incomplete === undefined
    ? []
    : [`${incomplete} With \`fail-if-locked\`, the step succeeds only if the list is complete.`];
}

interface PathsToList {
  /** Undefined for all locks; an empty list for none. */
  readonly paths: readonly LockPath[] | undefined;
  /** The text after the name of the workspace in a sentence. */
  readonly among: string;
  /** The limits of all requests, which begin after the patterns have been compared with the checkout. */
  readonly within: CallLimits;
}

async function pathsToList({ scope, workspace }: TaskOf<'list-locks'>, context: Context): Promise<PathsToList> {
  const { runner, connection, log } = context;
  if (scope.kind === 'changed-files') {
    const source = findSource(runner.event, { token: scope.githubToken, allowHttp: connection.allowHttp });
    if (!source.ok) throw new InputError([`Input \`changed-files\` is "true". ${source.reason}`]);
    // Loaded on demand: only a step with `changed-files` needs it.
    const { lookUpChangedFiles } = await import('../changed-files/changed-files.ts');
    const { change, repository } = source.value;
    const within = defaultLimits(context);
    const { files, paths } = await lookUpChangedFiles(source.value, context, within);
    const changed = `${capitalized(change.name)} of ${repository.owner}/${repository.repo} changes ${pluralize(files, 'file')}.`;
    log.line(paths.length === files ? changed : `${changed} Looking up ${pluralize(paths.length, 'path')}.`);
    return { paths, among: `, among ${pluralize(files, 'file')} of ${change.name}`, within };
  }
  const { held } = jobLocksIn(context, workspace);
  const isLocked = (path: LockPath): boolean => held.has(path);
  const { paths: resolved, warning } = await resolvePaths(scope.paths, { ...runner, isLocked });
  if (warning !== undefined) log.warn(warning);
  const within = defaultLimits(context);
  if (resolved.length === 0) return { paths: undefined, among: '', within };
  return { paths: resolved.map(({ path }) => path), among: `, among ${pluralize(resolved.length, 'path')}`, within };
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The documented fields, and all others that the service sent. */
function asOutput(lock: KnownLock) {
  const { raw, path, type, id, etag, owner, note, acquired_at, fence, expires_at } = lock;
  const known = Object.entries({ type, id, etag, owner, note, acquired_at, fence, expires_at });
  // An id or ETag that cannot be sent as proof is left out.
  return { ...raw, path, id, etag, ...Object.fromEntries(known.filter(([, value]) => value !== undefined)) };
}

const annotation = (lock: KnownLock, now: number): FileAnnotation => ({
  file: lock.path,
  title: 'Locked',
  text: `${heldText(lock.path, lock, now)}.`,
});

function sentenceOf({ locks, ignored, incomplete }: Found, where: string): string {
  if (locks.length > 0) return `${pluralize(locks.length, 'lock')} in ${where}.`;
  const except = ignored > 0 ? `, apart from ${pluralize(ignored, 'lock')} of ignored owners` : '';
  return incomplete === undefined
    ? `Nothing is locked in ${where}${except}.`
    : `No lock was found in ${where}${except}, but the list may be incomplete.`;
}

/** Releasing a lock does not change a run that has ended. The quoted words are labels on GitHub's pages. */
const rerunAdvice = (locks: readonly KnownLock[]): string =>
  `Once ${locks.length === 1 ? 'it is' : 'they are'} released, run this job again: "Re-run jobs", then "Re-run failed jobs".`;
