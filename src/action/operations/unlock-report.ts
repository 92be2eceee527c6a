import { type KnownLock, withRequest } from '../../client/client.ts';
import { formatNumber, joinFirst, pluralize } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { heldText } from '../../locks/messages.ts';
import type { TaskOf } from '../inputs/read-task.ts';
import type { ResolvedPath } from '../paths/resolve-paths.ts';
import { type Outcome, ofKind } from '../report/outcome.ts';
import { type PathResult, reportResults } from '../report/results.ts';
import { locksPage } from '../report/table.ts';

export type UnlockResult = { readonly path: LockPath } & (
  | { readonly kind: 'released' }
  | { readonly kind: 'absent' }
  /** The lock was this job's, and someone else holds the path now. */
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined }
  /** The path is held, but not by this job. */
  | { readonly kind: 'held'; readonly holder: KnownLock | undefined; readonly via: ResolvedPath['kind'] }
  /** The job has no lock on the path, and its holder is unknown. */
  | { readonly kind: 'not-ours' }
  /** The current lock may be another job's. */
  | { readonly kind: 'ambiguous' }
  /** The service does not let this token release the lock. */
  | { readonly kind: 'refused'; readonly holder: KnownLock | undefined; readonly request: string | undefined }
  /** The release was sent, with an unknown result. */
  | { readonly kind: 'unanswered'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
);

/** A warning about named paths that someone else holds; undefined if there are none. */
export function cautionText(results: readonly UnlockResult[], now: number): string | undefined {
  const held = ofKind(results, 'held').filter(({ via }) => via === 'named');
  const named = [...held, ...ofKind(results, 'not-ours')];
  const [first] = named;
  if (first === undefined) return undefined;
  const text =
    named.length > 1
      ? `This job has no lock on ${formatNumber(named.length)} of the paths, and left their current locks alone: ${joinFirst(named.map(({ path }) => path))}.`
      : first.kind === 'held'
        ? `${heldText(first.path, first.holder, now)}, and not by this job: it was left alone.`
        : `This job has no lock on ${first.path}, and its holder cannot be determined: it was left alone.`;
  const them = named.length > 1 ? 'them' : 'it';
  return `${text} To release ${them} anyway, pass the output \`locks\` of the step that locked ${them}, or set \`force: true\`.`;
}

interface UnlockReport {
  readonly service: string;
  readonly workspace: string;
  readonly selection: TaskOf<'unlock'>['selection']['kind'];
  readonly gap?: string | undefined;
}

export function unlockOutcome(
  results: readonly UnlockResult[],
  { service, workspace, selection, gap }: UnlockReport,
  now: number,
): Outcome & { readonly lines: readonly string[] } {
  const released = ofKind(results, 'released').map(({ path }) => path);
  const begin = `Released ${pluralize(released.length, 'lock')} in ${workspace}`;
  const about = { main: 'released', begin, rest: locksPage(service, workspace) } as const;
  const report = reportResults(results.map(pathResult), about, now);
  return {
    ...report,
    sentence: results.length === 0 ? `${begin}: ${nothingText(selection)}.` : report.sentence,
    outputs: { status: statusOf(results), released: JSON.stringify(released) },
    failures: [...results.flatMap((result) => failureOf(result, now)), ...(gap === undefined ? [] : [gap])],
  };
}

/**
 * One status for all paths. The first that applies: a lock was lost; a lock was released; a path is, or may be, still
 * locked; no path was locked.
 */
export function statusOf(results: readonly UnlockResult[]): 'lost' | 'released' | 'held' | 'absent' {
  const kinds = new Set(results.map(({ kind }) => kind));
  if (kinds.has('lost')) return 'lost';
  if (kinds.has('released')) return 'released';
  return results.every(({ kind }) => kind === 'absent') ? 'absent' : 'held';
}

function pathResult(one: UnlockResult): PathResult {
  const { path } = one;
  switch (one.kind) {
    case 'released':
    case 'lost':
      return { path, result: one.kind, ...holderOf(one) };
    case 'absent':
      return { path, result: 'not locked' };
    case 'held':
    case 'not-ours':
    case 'ambiguous':
      return { path, result: 'left alone', ...holderOf(one) };
    case 'refused':
    case 'failed':
      return { path, result: 'not released', ...holderOf(one) };
    case 'unanswered':
      return { path, result: 'may still be locked' };
  }
}

function holderOf(one: UnlockResult): Pick<PathResult, 'holder' | 'until'> {
  if (!('holder' in one)) return {};
  return { holder: one.holder ?? {}, until: one.holder?.expires_at };
}

function failureOf(result: UnlockResult, now: number): readonly string[] {
  switch (result.kind) {
    case 'lost':
      return [`${heldText(result.path, result.holder, now)}: this job lost its lock, and left the current one alone.`];
    case 'refused': {
      const { path, holder, request } = result;
      const reason = `${heldText(path, holder, now)}, and the service does not let this token release that lock. To release it anyway, set \`force: true\` with a token that has the scope \`locks:admin\`.`;
      return [withRequest(reason, request)];
    }
    case 'unanswered':
      return [
        `The lock on ${result.path} may not have been released: the request was sent only once, because the service gave no id or ETag to identify it. ${result.reason}`,
      ];
    case 'failed':
      return [`The lock on ${result.path} was not released. ${result.reason}`];
    default:
      return [];
  }
}

function nothingText(selection: UnlockReport['selection']): string {
  switch (selection) {
    case 'job':
      return 'this job no longer holds a lock there';
    case 'paths':
      return 'this job holds no lock that matches `path`';
    case 'locks':
      return 'the list of locks is empty';
  }
}
