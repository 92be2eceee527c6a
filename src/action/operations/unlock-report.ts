import { type KnownLock, withRequest } from '../../client/client.ts';
import { clockTime, formatNumber, joinFirst, pluralize } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { heldText } from '../../locks/messages.ts';
import type { TaskOf } from '../inputs/read-task.ts';
import type { ResolvedPath } from '../paths/resolve-paths.ts';
import { type Outcome, ofKind } from '../report/outcome.ts';
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

/** A line about matched paths that this job does not hold; undefined if there are none. */
export function othersText(results: readonly UnlockResult[], now: number): string | undefined {
  const others = ofKind(results, 'held').filter(({ via }) => via === 'matched');
  if (others.length === 0) return undefined;
  return `Left alone, because this job is not known to hold them: ${joinFirst(others.map(({ path, holder }) => `${path} (${holderText(holder, now)})`))}.`;
}

interface UnlockReport {
  readonly service: string;
  readonly workspace: string;
  readonly selection: TaskOf<'unlock'>['selection']['kind'];
  readonly gap?: string | undefined;
}

export function unlockOutcome(results: readonly UnlockResult[], report: UnlockReport, now: number): Outcome {
  const { service, workspace, gap } = report;
  const rows = results.map((result) => [result.path, resultText(result)]);
  return {
    outputs: {
      status: statusOf(results),
      released: JSON.stringify(ofKind(results, 'released').map(({ path }) => path)),
    },
    sentence: sentenceOf(results, report),
    tables: [{ head: ['Path', 'Result'], rows, rest: locksPage(service, workspace) }],
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

const resultTexts = {
  released: 'released',
  absent: 'was not locked',
  lost: 'held by someone else, left alone',
  'not-ours': 'not locked by this job, left alone',
  ambiguous: 'may be the lock of another job, left alone',
  unanswered: 'may not have been released',
  failed: 'not released',
};

/** Without `now`, the text is for a summary. */
export function resultText(result: UnlockResult, now?: number): string {
  switch (result.kind) {
    case 'held':
      return `${holderText(result.holder, now)}, left alone`;
    case 'refused':
      return `${holderText(result.holder, now)}, and this token may not release it`;
    default:
      return resultTexts[result.kind];
  }
}

/** Formats a holder: "held by grace until 14:05 UTC". */
function holderText(holder: KnownLock | undefined, now?: number): string {
  const until = holder?.expires_at === undefined ? '' : ` until ${clockTime(Date.parse(holder.expires_at), now)}`;
  return `held by ${holder?.owner ?? 'someone else'}${until}`;
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

function sentenceOf(results: readonly UnlockResult[], { workspace, selection }: UnlockReport): string {
  const released = ofKind(results, 'released');
  const [first] = released;
  const what =
    first === undefined
      ? 'Nothing was released'
      : `Released ${results.length === 1 ? first.path : pluralize(released.length, 'lock')}`;
  if (results.length === 0) return `${what} in ${workspace}: ${nothingText(selection)}.`;
  const owners = new Set(ofKind(results, 'held').map(({ holder }) => holder?.owner ?? 'someone else'));
  const phrase = (text: string, ...kinds: readonly UnlockResult['kind'][]): string => {
    const number = results.filter(({ kind }) => kinds.includes(kind)).length;
    return number === 0 ? '' : `, ${formatNumber(number)} ${text}`;
  };
  return [
    `${what} in ${workspace}`,
    phrase('not locked', 'absent'),
    phrase('lost', 'lost'),
    phrase('not locked by this job', 'not-ours'),
    phrase('left alone', 'ambiguous'),
    phrase(`held by ${joinFirst([...owners])}`, 'held'),
    phrase('not released', 'failed', 'refused', 'unanswered'),
    '.',
  ].join('');
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
