import type { KnownLock } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Loss } from '../ledger/entry.ts';
import { lockJson } from '../ledger/ledger.ts';
import { lossText, lostText } from '../locks/messages.ts';
import type { OwnLock } from '../locks/ownership.ts';
import { type Outcome, type Outputs, ofKind } from '../outcome.ts';
import type { Redact } from '../report/redact.ts';
import { clockTime, count, distance, grouped, listed, moment } from '../report/words.ts';

/** A lock of this job, or one that it was handed. */
export interface CheckedLock extends OwnLock {
  readonly type?: string | undefined;
  readonly fence?: number | undefined;
}

/** What the service says of one lock. */
export type CheckResult = { readonly path: LockPath } & (
  | { readonly kind: 'kept'; readonly lock: CheckedLock }
  | {
      readonly kind: 'lost';
      /** As it was while the job had it. */
      readonly lock: OwnLock;
      /** The service has refused to renew it. */
      readonly loss?: Loss | undefined;
      /** Undefined where nobody holds the path. */
      readonly holder: KnownLock | undefined;
    }
  /** The service does not say, or not enough to prove either. */
  | { readonly kind: 'unknown'; readonly why: string }
);

export interface CheckReport {
  readonly workspace: string;
  readonly results: readonly CheckResult[];
  /** Why there may be locks that were not checked. */
  readonly gap: string | undefined;
}

const endOf = (lock: { readonly expires_at?: string | undefined } | undefined): number =>
  Date.parse(lock?.expires_at ?? '');

/** What is known of the outputs: where some lock can be neither, only that another is lost is worth a word. */
function outputsOf({ results, gap }: CheckReport, redact: Redact): Outputs {
  const isLost = results.some(({ kind }) => kind === 'lost');
  const isUnknown = gap !== undefined || results.some(({ kind }) => kind === 'unknown');
  if (isUnknown && !isLost) return {};
  const kept = ofKind(results, 'kept').map(({ path, lock }) => {
    const { type, id, etag, owner, acquired_at, fence, expires_at } = lock;
    return { path, type, id, etag, owner, acquired_at, fence, expires_at };
  });
  return { status: isLost ? 'lost' : 'kept', count: String(kept.length), locks: lockJson(kept, redact) };
}

function sentenceOf({ results, workspace }: CheckReport, now: number): string {
  const [first, ...others] = results;
  if (first === undefined) return `There is nothing to check in ${workspace}: the list of locks is empty.`;
  const isOne = others.length === 0;
  const kept = ofKind(results, 'kept');
  const lost = ofKind(results, 'lost').length;
  const unknown = ofKind(results, 'unknown').length;
  const all = count(results.length, 'lock');
  const one = `lock on ${first.path} in ${workspace}`;
  if (lost > 0) {
    const rest = unknown > 0 ? `, and of ${grouped(unknown)} that is not known` : '';
    return isOne
      ? `The ${one} is lost.`
      : `${grouped(lost)} of ${all} in ${workspace} ${lost === 1 ? 'is' : 'are'} lost${rest}.`;
  }
  if (unknown > 0) {
    return `It is not known whether ${isOne ? `the ${one}` : `${grouped(unknown)} of ${all} in ${workspace}`} ${unknown === 1 ? 'is' : 'are'} still held.`;
  }
  const soonest = kept.reduce((end, { lock }) => Math.min(end, endOf(lock)), Number.POSITIVE_INFINITY);
  const until = Number.isNaN(soonest) ? '' : `, until ${moment(soonest, now)}`;
  return isOne ? `The ${one} is still held${until}.` : `All ${all} in ${workspace} are still held${until}.`;
}

/** Result, holder, and until when. */
function cellsOf(result: CheckResult, now: number): readonly string[] {
  const until = (lock: Parameters<typeof endOf>[0]): readonly string[] => {
    const end = endOf(lock);
    return Number.isNaN(end) ? ['', ''] : [clockTime(end, now), distance(end, now)];
  };
  switch (result.kind) {
    case 'kept':
      return ['kept', 'this job', ...until(result.lock)];
    case 'lost': {
      const { holder } = result;
      return ['lost', holder === undefined ? 'nobody' : (holder.owner ?? 'somebody else'), ...until(holder)];
    }
    case 'unknown':
      return ['not known', '', '', ''];
  }
}

function lineOf(result: CheckResult, now: number): string {
  const [word, holder, until = '', distance] = cellsOf(result, now);
  const end = until === '' ? '' : ` until ${until} (${distance})`;
  switch (result.kind) {
    case 'kept':
      return `${result.path}: ${word}${end}`;
    case 'lost':
      return `${result.path}: ${word}, held by ${holder}${end}`;
    case 'unknown':
      return `${result.path}: ${word}`;
  }
}

/** One for each lost path; paths of which the same reason leaves nothing known share one. */
function failuresOf({ results, gap }: CheckReport, now: number): readonly string[] {
  const unknown = Map.groupBy(ofKind(results, 'unknown'), ({ why }) => why);
  return [
    ...ofKind(results, 'lost').map((result) =>
      result.loss === undefined ? lostText(result, now) : lossText(result.loss, result.holder ?? 'nobody', now),
    ),
    ...[...unknown].map(
      ([why, paths]) => `It is not known whether this job still holds ${listed(paths.map(({ path }) => path))}. ${why}`,
    ),
    ...(gap === undefined ? [] : [gap]),
  ];
}

/** What a check came to, and the lines of the log that go with it. */
export function checkReport(
  report: CheckReport,
  now: number,
  redact: Redact,
): Outcome & { readonly lines: readonly string[] } {
  const { results } = report;
  return {
    outputs: outputsOf(report, redact),
    sentence: report.gap === undefined ? sentenceOf(report, now) : `${sentenceOf(report, now)} ${report.gap}`,
    tables: [
      {
        head: ['Path', 'Result', 'Held by', 'Until', ''],
        rows: results.map((result) => [result.path, ...cellsOf(result, now)]),
      },
    ],
    failures: failuresOf(report, now),
    annotations: [],
    lines: results.map((result) => lineOf(result, now)),
  };
}
