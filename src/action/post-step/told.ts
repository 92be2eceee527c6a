import type { LossReaction } from '../inputs/values.ts';
import { heldText } from '../locks/holder-text.ts';
import { unprovenText } from '../locks/left-behind.ts';
import { answerClockMs, pastMoment } from '../locks/past-moment.ts';
import type { Table } from '../outcome.ts';
import { clockTime, count, grouped, moment } from '../report/words.ts';
import { byHand } from './by-hand.ts';
import type { Settled } from './release-claims.ts';

export interface Told {
  readonly sentence: string;
  readonly table: Table;
  /** Markdown with a picture of how long each lock was waited for and held. */
  readonly picture: string | undefined;
  /** Why the job fails: each about a lock that it counted on and did not have. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
  readonly lines: readonly string[];
}

type Of<Kind extends Settled['kind']> = Extract<Settled, { kind: Kind }>;

const words: Readonly<Record<Settled['kind'], string>> = {
  released: 'released',
  gone: 'was gone already',
  lost: 'lost to another holder',
  replaced: 'held by somebody else now, left alone',
  'left-alone': 'not to be told from the lock of somebody else, left alone',
  failed: 'not released',
  unproven: 'not known to be ours, left alone',
  'never-granted': 'was never granted',
};

/** What a person has to look at first. */
const order: readonly Settled['kind'][] = [
  'lost',
  'failed',
  'replaced',
  'left-alone',
  'unproven',
  'gone',
  'released',
  'never-granted',
];

const ofKind = <Kind extends Settled['kind']>(settled: readonly Settled[], kind: Kind): readonly Of<Kind>[] =>
  // The filter makes them of this kind, which the compiler cannot follow through a type parameter.
  settled.filter((one) => one.kind === kind) as readonly Settled[] as readonly Of<Kind>[];

const pathOf = (settled: Settled): string => ('grant' in settled ? settled.grant.path : settled.intent.path);

const endOf = (settled: Settled): number =>
  'grant' in settled ? Date.parse(settled.grant.lock.expires_at) : Number.NaN;

const isOver = (settled: Settled, now: number): boolean => endOf(settled) <= now + answerClockMs;

const untilText = (settled: Settled, now: number): string => {
  const end = endOf(settled);
  if (Number.isNaN(end)) return '';
  return isOver(settled, now) ? `its lifetime ended at ${pastMoment(end, now)}` : `held until ${moment(end, now)}`;
};

/** A warning is read in the margin of a run: a few locks by name, and where the others are. */
const mostNamed = 5;

function several<One>(all: readonly One[], text: (one: One) => string): string {
  const more = all.length - mostNamed;
  const rest = more > 0 ? ` And ${count(more, 'more', 'more')}: see the log of the step.` : '';
  return all.slice(0, mostNamed).map(text).join(' ') + rest;
}

function lostText(lost: Of<'lost'>, now: number): string {
  const { grant, holder } = lost;
  const end = endOf(lost);
  const had = isOver(lost, now) || end <= Date.parse(holder?.acquired_at ?? '');
  const when = had
    ? ` It had ended at ${pastMoment(end, now)}; a longer \`ttl\` would have kept it.`
    : ' Somebody had released it before its end.';
  return `The lock on ${grant.path} was lost while the job counted on it.${when} ${heldText(grant.path, holder, now, true)}; that lock has been left alone.`;
}

function failedText(failed: readonly Of<'failed'>[], now: number): string {
  const [first] = failed;
  const itself = failed.length === 1 ? 'ends by itself' : 'end by themselves';
  const each = several(failed, (one) => {
    const { path, lock } = one.grant;
    const about = [lock.id === undefined ? '' : `id ${lock.id}`, untilText(one, now)].filter((text) => text !== '');
    return `${path}${about.length > 0 ? ` (${about.join(', ')})` : ''}: ${byHand(one.grant)}.`;
  });
  return `${count(failed.length, 'lock')} could not be released, and ${itself}. ${first?.why ?? ''} To release by hand: ${each}`;
}

const replacedText = (replaced: readonly Of<'replaced'>[], now: number): string =>
  several(
    replaced,
    ({ grant, holder }) =>
      `${heldText(grant.path, holder, now, true)}, and is left alone: whether the job had released its own lock before is not known.`,
  );

const leftAloneText = (left: readonly Of<'left-alone'>[], now: number): string =>
  several(
    left,
    (one) =>
      `The service gave nothing to tell the lock on ${one.grant.path} from another (${untilText(one, now)}): what is there now has been left alone.`,
  );

function overText(over: readonly Of<'gone'>[], now: number): string {
  const each = several(
    over,
    (one) => `The lock on ${one.grant.path} had ended at ${pastMoment(endOf(one), now)}, before the job did.`,
  );
  return `${each} A longer \`ttl\` would have kept what the job counted on.`;
}

function warningsOf(settled: readonly Settled[], now: number): readonly string[] {
  const failed = ofKind(settled, 'failed');
  const replaced = ofKind(settled, 'replaced');
  const left = ofKind(settled, 'left-alone');
  const unproven = ofKind(settled, 'unproven');
  const over = ofKind(settled, 'gone').filter((one) => isOver(one, now));
  return [
    ...(failed.length > 0 ? [failedText(failed, now)] : []),
    ...(replaced.length > 0 ? [replacedText(replaced, now)] : []),
    ...(left.length > 0 ? [leftAloneText(left, now)] : []),
    ...(unproven.length > 0 ? [several(unproven, ({ intent, why }) => `${unprovenText(intent)} ${why}`)] : []),
    ...(over.length > 0 ? [overText(over, now)] : []),
  ];
}

function lineOf(settled: Settled, now: number): string {
  const id = 'grant' in settled ? settled.grant.lock.id : undefined;
  const details =
    settled.kind === 'failed' ? [untilText(settled, now), id && `id ${id}`].filter(Boolean).join(', ') : '';
  return `${pathOf(settled)}: ${words[settled.kind]}${details === '' ? '' : ` (${details})`}`;
}

export const nothingLeft = 'Nothing was left to release at the end of the job.';

export interface TellOptions {
  readonly picture: string | undefined;
  /** By the clock of the service. */
  readonly now: number;
  readonly onLost: LossReaction;
}

/** What people are told of the end of a job's locks. */
export function tell(settled: readonly Settled[], { picture, now, onLost }: TellOptions): Told {
  const sorted = settled.toSorted(
    (one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || (pathOf(one) < pathOf(other) ? -1 : 1),
  );
  const released = ofKind(settled, 'released').length;
  const lost = ofKind(sorted, 'lost');
  const others = order
    .filter((kind) => kind !== 'released' && kind !== 'never-granted')
    .map((kind) => [ofKind(settled, kind).length, words[kind]] as const)
    .filter(([number]) => number > 0)
    .map(([number, word]) => `, ${grouped(number)} ${word}`);
  return {
    sentence:
      settled.length === 0
        ? nothingLeft
        : `Released ${count(released, 'lock')} at the end of the job${others.join('')}.`,
    table: {
      head: ['Path', 'Result', 'Ends', 'Id'],
      rows: sorted.map((one) => [
        pathOf(one),
        words[one.kind],
        Number.isNaN(endOf(one)) ? '' : clockTime(endOf(one), now),
        'grant' in one ? (one.grant.lock.id ?? '') : '',
      ]),
    },
    picture,
    failures: onLost === 'fail' ? lost.map((one) => lostText(one, now)) : [],
    warnings: [
      ...(onLost === 'warn' && lost.length > 0 ? [several(lost, (one) => lostText(one, now))] : []),
      ...warningsOf(sorted, now),
    ],
    lines: sorted.map((one) => lineOf(one, now)),
  };
}
