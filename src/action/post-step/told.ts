import { asOneSegment, type LockPath } from '../../interface/lock-path.ts';
import { heldText } from '../locks/holder-text.ts';
import type { Table } from '../outcome.ts';
import { clockTime, count, distance, moment } from '../report/words.ts';
import { pathOf, type Settled } from './release-claims.ts';

export interface Told {
  readonly sentence: string;
  readonly table: Table;
  /** Each about a lock that the job counted on and did not have. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly lines: readonly string[];
}

type Of<Kind extends Settled['kind']> = Extract<Settled, { kind: Kind }>;

const words: Readonly<Record<Settled['kind'], string>> = {
  released: 'released',
  gone: 'was gone already',
  lost: 'lost to another holder',
  'left-alone': 'past its lifetime, left alone',
  failed: 'not released',
  unproven: 'not known to be ours, left alone',
  'never-granted': 'was never granted',
};

const endOf = (expiresAt: string, now: number): string => {
  const end = Date.parse(expiresAt);
  if (Number.isNaN(end)) return '';
  return end > now ? `until ${moment(end, now)}` : `past its end at ${moment(end, now)}`;
};

function lostText({ grant, holder }: Of<'lost'>, now: number): string {
  const end = Date.parse(grant.lock.expires_at);
  const when = end <= now ? ` It had ended at ${moment(end, now)}; a longer \`ttl\` would have kept it.` : '';
  return `The lock on ${grant.path} was lost while the job counted on it.${when} ${heldText(grant.path, holder, now)}; that lock has been left alone.`;
}

/** Enough to release it without this action. The token is not shown: whoever does it has one. */
function byHand({ grant }: Of<'failed'>): string {
  const { service, workspace, path, lock } = grant;
  const tag = lock.etag ?? (lock.id === undefined ? undefined : `"${lock.id}"`);
  const condition = tag === undefined ? '' : ` -H 'If-Match: ${tag}'`;
  // A path in the ledger is one that was asked for, and so one of the canonical ones.
  const address = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${asOneSegment(path as LockPath)}`;
  return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} '${address}'`;
}

const mostByHand = 5;

function failedText(failed: readonly Of<'failed'>[], now: number): string {
  const [first] = failed;
  const each = failed.slice(0, mostByHand).map((one) => {
    const { path, lock } = one.grant;
    const id = lock.id === undefined ? '' : `, id ${lock.id}`;
    return `${path} (held ${endOf(lock.expires_at, now)}${id}): ${byHand(one)}`;
  });
  const more = failed.length > mostByHand ? `; and ${failed.length - mostByHand} more` : '';
  return `${count(failed.length, 'lock')} could not be released, and will end by ${failed.length === 1 ? 'itself' : 'themselves'}. ${first?.error.message ?? ''} To release by hand: ${each.join('; ')}${more}`;
}

const leftAloneText = ({ grant }: Of<'left-alone'>, now: number): string =>
  `The lock on ${grant.path} ended ${distance(Date.parse(grant.lock.expires_at), now)}, and the service gave nothing to tell it from another: what is there now has been left alone.`;

const unprovenText = ({ intent, error }: Of<'unproven'>): string =>
  `It is not known whether this step got the lock on ${intent.path}: no answer was seen, and none can be had now. If it did, the lock ends ${intent.ttl} after ${intent.at}. ${error.message}`;

function overText({ grant }: Of<'gone'>, now: number): string | undefined {
  const end = Date.parse(grant.lock.expires_at);
  return end <= now
    ? `The lock on ${grant.path} had ended at ${moment(end, now)}, before the job did. A longer \`ttl\` would have kept it.`
    : undefined;
}

const ofKind = <Kind extends Settled['kind']>(settled: readonly Settled[], kind: Kind): readonly Of<Kind>[] =>
  // The filter makes them of this kind, which the compiler cannot follow through a type parameter.
  settled.filter((one) => one.kind === kind) as readonly Settled[] as readonly Of<Kind>[];

function endColumn(settled: Settled, now: number): string {
  if (!('grant' in settled)) return '';
  const end = Date.parse(settled.grant.lock.expires_at);
  return Number.isNaN(end) ? '' : clockTime(end, now);
}

/** What people are told of the end of a job's locks. */
export function tell(settled: readonly Settled[], now: number): Told {
  const failed = ofKind(settled, 'failed');
  const released = ofKind(settled, 'released').length;
  const others = (['gone', 'lost', 'left-alone', 'failed', 'unproven'] as const)
    .map((kind) => [ofKind(settled, kind).length, words[kind]] as const)
    .filter(([number]) => number > 0)
    .map(([number, word]) => `, ${number} ${word}`);
  return {
    sentence: `Released ${count(released, 'lock')} at the end of the job${others.join('')}.`,
    table: {
      head: ['Path', 'Result', 'Ends'],
      rows: settled
        .map((one) => [pathOf(one), words[one.kind], endColumn(one, now)])
        .sort(([one = ''], [other = '']) => (one < other ? -1 : 1)),
    },
    errors: ofKind(settled, 'lost').map((one) => lostText(one, now)),
    warnings: [
      ...(failed.length > 0 ? [failedText(failed, now)] : []),
      ...ofKind(settled, 'left-alone').map((one) => leftAloneText(one, now)),
      ...ofKind(settled, 'unproven').map(unprovenText),
      ...ofKind(settled, 'gone')
        .map((one) => overText(one, now))
        .filter((text) => text !== undefined),
    ],
    lines: settled.map((one) => `${pathOf(one)}: ${words[one.kind]}`),
  };
}
