import type { KnownLock } from '../../client/known-lock.ts';
import { formatNumber, formatTime, timeCell } from '../../interface/format.ts';
import { fitsVariable, type Table } from './outcome.ts';

/** What a step found or did, most important first. */
const order = [
  'lost',
  'not released',
  'may still be locked',
  'unknown',
  'left alone',
  'already gone',
  'not locked',
  'kept',
  'released',
] as const;

export interface PathResult {
  readonly path: string;
  readonly result: (typeof order)[number];
  /** The current holder, unless it is this job. */
  readonly holder?: Partial<Pick<KnownLock, 'owner' | 'expires_at'>> | 'nobody' | undefined;
  /** When the lock of this job expires. */
  readonly until?: string | undefined;
  readonly failure?: string | undefined;
  readonly warning?: Warning | undefined;
}

/** Warnings with the same reason and advice are combined. */
interface Warning {
  readonly reason?: string;
  readonly text: string;
  readonly advice?: string;
}

/**
 * The outcome of a step with a result for each path, except its outputs. `begin` counts the results `main`, and
 * `gap` is the reason why there may be more locks.
 */
export function resultsOutcome(
  results: readonly PathResult[],
  main: PathResult['result'],
  begin: string,
  now: number,
  gap?: string,
) {
  const sorted = results.toSorted(
    (one, other) => order.indexOf(one.result) - order.indexOf(other.result) || (one.path < other.path ? -1 : 1),
  );
  const counts = [...Map.groupBy(sorted, ({ result }) => result)].filter(([result]) => result !== main);
  return {
    outputs: {},
    sentence: `${begin}${counts.map(([result, { length }]) => `, ${formatNumber(length)} ${result}`).join('')}.`,
    table: {
      head: ['Path', 'Result', 'Held by', 'Until'],
      rows: sorted.map((one) => [one.path, one.result, holderName(one.holder), timeCell(endOf(one))]),
    },
    lines: sorted.map((one) => {
      const time = Date.parse(endOf(one) ?? '');
      const held = one.holder === undefined ? '' : `, held by ${holderName(one.holder)}`;
      return `${one.path}: ${one.result}${held}${Number.isNaN(time) ? '' : ` until ${formatTime(time, now)}`}`;
    }),
    failures: [...sorted.flatMap(({ failure }) => failure ?? []), ...(gap === undefined ? [] : [gap])],
    warnings: joinWarnings(sorted.flatMap(({ warning }) => warning ?? [])),
  };
}

function joinWarnings(warnings: readonly Warning[]): readonly string[] {
  const groups = Map.groupBy(warnings, ({ reason = '', advice = '' }) => `${reason} ${advice}`);
  return [...groups.values()].map((some) =>
    [some[0]?.reason, joinSome(some.map(({ text }) => text)), some[0]?.advice]
      .filter((part) => part !== undefined)
      .join(' '),
  );
}

/** A warning is an annotation of the run: it contains a few sentences, and refers to the log for the rest. */
const maxSentences = 5;

export function joinSome(sentences: readonly string[]): string {
  const more = sentences.length - maxSentences;
  const rest = more > 0 ? ` And ${formatNumber(more)} more: see the log of the step.` : '';
  return sentences.slice(0, maxSentences).join(' ') + rest;
}

const holderName = (holder: PathResult['holder']): string =>
  holder === undefined || holder === 'nobody' ? (holder ?? '') : (holder.owner ?? 'someone else');

const endOf = ({ holder, until }: PathResult): string | undefined =>
  holder === undefined || holder === 'nobody' ? until : holder.expires_at;

/** The table of locks in a summary. */
export function holderTable(
  locks: readonly { readonly path: string; readonly holder: KnownLock | undefined }[],
): Table {
  return {
    head: ['Path', 'Holder', 'Until', 'Run', 'Note'],
    rows: locks.map(({ path, holder }) => [
      path,
      holder?.owner ?? '',
      timeCell(holder?.expires_at),
      { run: holder?.origin ?? '' },
      holder?.note ?? '',
    ]),
  };
}

type ListedLock = Partial<Pick<KnownLock, 'id' | 'etag'>> & { readonly path: string };

/** The output `locks`, in its short form if it is too long. If that is too, the reporter leaves the output empty. */
export function locksOutput(locks: readonly ListedLock[]): string {
  const complete = JSON.stringify(locks);
  if (fitsVariable(complete)) return complete;
  const short = locks.map(shortForm).filter((lock) => lock !== undefined);
  return short.length === locks.length ? JSON.stringify(short) : complete;
}

/** The path and the proof. An ETag that is the quoted id is omitted: without an ETag, a release sends that id. */
function shortForm({ path, id, etag }: ListedLock): ListedLock | undefined {
  if (id === undefined && etag === undefined) return undefined;
  return { path, id, etag: etag === `"${id}"` ? undefined : etag };
}
