import { withRequest } from '../../client/client.ts';
import { answerClockMs } from '../../client/clock.ts';
import { asOneSegment } from '../../interface/lock-path.ts';
import { shellQuoted } from '../../interface/shell-word.ts';
import type { LossReaction } from '../inputs/parse.ts';
import { type Entry, type Grant, parsedAddress } from '../ledger/entry.ts';
import { historyOf } from '../ledger/history.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { heldText, lossText, pastMoment, unprovenText } from '../locks/messages.ts';
import { byPath, locksPage, ofKind, type ReleaseReport } from '../outcome.ts';
import type { Redact } from '../report/redact.ts';
import { clockTime, count, grouped, moment, timeCell } from '../report/words.ts';
import type { ClaimResult } from './claims.ts';

/** Releases the lock without this action. It shows no token: whoever runs it has their own. */
export function manualReleaseCommand(grant: Grant): string {
  const { service, lock } = grant;
  const { workspace, path } = parsedAddress(grant);
  const tag = lock.etag ?? (lock.id === undefined ? undefined : `"${lock.id}"`);
  const condition = tag === undefined ? '' : ` -H ${shellQuoted(`If-Match: ${tag}`)}`;
  const address = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${asOneSegment(path)}`;
  return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${shellQuoted(address)}`;
}

type Of<Kind extends ClaimResult['kind']> = Extract<ClaimResult, { kind: Kind }>;

/** Most important first. */
const words: Readonly<Record<ClaimResult['kind'], string>> = {
  lost: 'lost to another holder',
  failed: 'not released',
  replaced: 'held by somebody else now, left alone',
  'left-alone': 'cannot be told apart from a lock of somebody else, left alone',
  unproven: 'not known to be ours, left alone',
  gone: 'was gone already',
  released: 'released',
  'never-granted': 'was never granted',
};

const order = Object.keys(words);

const pathOf = (result: ClaimResult): string => ('grant' in result ? result.grant.path : result.intent.path);

const endOf = (result: ClaimResult): number =>
  'grant' in result ? Date.parse(result.grant.lock.expires_at) : Number.NaN;

const isOver = (result: ClaimResult, now: number): boolean => endOf(result) <= now + answerClockMs;

const untilText = (result: ClaimResult, now: number): string => {
  const end = endOf(result);
  if (Number.isNaN(end)) return '';
  return isOver(result, now) ? `its lifetime ended at ${pastMoment(end, now)}` : `held until ${moment(end, now)}`;
};

/** A warning is an annotation of the run: it names a few locks, and says where the others are. */
const maxNamed = 5;

function several<One>(all: readonly One[], text: (one: One) => string): string {
  const more = all.length - maxNamed;
  const rest = more > 0 ? ` And ${count(more, 'more', 'more')}: see the log of the step.` : '';
  return all.slice(0, maxNamed).map(text).join(' ') + rest;
}

function lostText(lost: Of<'lost'>, now: number): string {
  const { grant, holder, loss, renewalTrouble } = lost;
  const { path } = grant;
  const unrenewed = renewalTrouble === undefined ? '' : ` It could not be renewed: ${renewalTrouble}`;
  if (loss !== undefined) return `${lossText(loss, holder, now)}${unrenewed}`;
  const itself = `The lock on ${path} was lost while the job relied on it.`;
  const end = endOf(lost);
  if (holder === 'nobody') return `${itself} It had ended at ${pastMoment(end, now)}.${unrenewed}`;
  const had = isOver(lost, now) || end <= Date.parse(holder?.acquired_at ?? '');
  const longer = renewalTrouble === undefined ? '; a longer `ttl` would have kept it.' : '.';
  const when = had ? ` It had ended at ${pastMoment(end, now)}${longer}` : ' Somebody had released it before its end.';
  return `${itself}${when} ${heldText(path, holder, now, true)}; that lock has been left alone.${unrenewed}`;
}

function failedText(failed: readonly Of<'failed'>[], now: number): string {
  const [first] = failed;
  const itself = failed.length === 1 ? 'ends by itself' : 'end by themselves';
  const each = several(failed, (one) => {
    const { path, lock } = one.grant;
    const about = [lock.id === undefined ? '' : `id ${lock.id}`, untilText(one, now)].filter((text) => text !== '');
    return `${path}${about.length > 0 ? ` (${about.join(', ')})` : ''}: ${manualReleaseCommand(one.grant)}.`;
  });
  const what = `${count(failed.length, 'lock')} could not be released and ${itself}.`;
  return withRequest(`${what} ${first?.why ?? ''} To release it yourself: ${each}`, first?.request);
}

const replacedText = ({ grant, holder }: Of<'replaced'>, now: number): string =>
  `${heldText(grant.path, holder, now, true)}, and is left alone: it is not known whether the job had already released its own lock.`;

const leftAloneText = (left: Of<'left-alone'>, now: number): string =>
  `The service gave nothing to tell the lock on ${left.grant.path} (${untilText(left, now)}) from another: what is there now has been left alone.`;

const overText = (over: Of<'gone'>, now: number): string =>
  `The lock on ${over.grant.path} had ended at ${pastMoment(endOf(over), now)}, before the job did.`;

function warningsOf(results: readonly ClaimResult[], now: number): readonly string[] {
  const failed = ofKind(results, 'failed');
  const over = ofKind(results, 'gone').filter((one) => isOver(one, now));
  const warnings = [
    failed.length > 0 ? failedText(failed, now) : '',
    several(ofKind(results, 'replaced'), (one) => replacedText(one, now)),
    several(ofKind(results, 'left-alone'), (one) => leftAloneText(one, now)),
    several(ofKind(results, 'unproven'), ({ intent, why }) => `${unprovenText(intent)} ${why}`),
    several(over, (one) => overText(one, now)) +
      (over.length > 0 ? ' A longer `ttl` would have kept what the job relied on.' : ''),
  ];
  return warnings.filter((text) => text !== '');
}

function lineOf(result: ClaimResult, now: number): string {
  const id = 'grant' in result ? result.grant.lock.id : undefined;
  const details = result.kind === 'failed' ? [untilText(result, now), id && `id ${id}`].filter(Boolean).join(', ') : '';
  return `${pathOf(result)}: ${words[result.kind]}${details === '' ? '' : ` (${details})`}`;
}

export const nothingLeft = 'Nothing was left to release at the end of the job.';

interface ReportOptions {
  readonly chart: string | undefined;
  /** By the clock of the service. */
  readonly now: number;
  readonly onLost: LossReaction;
}

/** What became of a step's locks, for people. */
export function releaseReport(results: readonly ClaimResult[], { chart, now, onLost }: ReportOptions): ReleaseReport {
  const sorted = results.toSorted(
    (one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || (pathOf(one) < pathOf(other) ? -1 : 1),
  );
  // All are in the one workspace of the step.
  const [about] = results.map((one) => ('grant' in one ? one.grant : one.intent));
  const released = ofKind(results, 'released').length;
  const lost = ofKind(sorted, 'lost');
  const others = Object.entries(words)
    .filter(([kind]) => kind !== 'released' && kind !== 'never-granted')
    .map(([kind, word]) => [results.filter((one) => one.kind === kind).length, word] as const)
    .filter(([number]) => number > 0)
    .map(([number, word]) => `, ${grouped(number)} ${word}`);
  return {
    sentence:
      results.length === 0
        ? nothingLeft
        : `Released ${count(released, 'lock')} at the end of the job${others.join('')}.`,
    table: {
      head: ['Path', 'Result', 'Ends'],
      rows: sorted.map((one) => [
        pathOf(one),
        words[one.kind],
        'grant' in one ? timeCell(one.grant.lock.expires_at) : '',
      ]),
      ...(about !== undefined && { rest: locksPage(about.service, about.workspace) }),
    },
    chart,
    failures: onLost === 'fail' ? lost.map((one) => lostText(one, now)) : [],
    warnings: [
      ...(onLost === 'warn' && lost.length > 0 ? [several(lost, (one) => lostText(one, now))] : []),
      ...warningsOf(sorted, now),
    ],
    lines: sorted.map((one) => lineOf(one, now)),
  };
}

/** One lock in the chart. Times in milliseconds since 1970. */
export interface Bar {
  readonly path: string;
  /** When the step first asked for it. */
  readonly asked: number;
  readonly granted: number;
  /** When it was released, or the end of the chart if it was not. */
  readonly ended: number;
  readonly released: boolean;
  /** When it was renewed, and perhaps times outside of the bar. Most bars are never drawn. */
  readonly renewals?: () => readonly number[];
}

/** More rows than fit on a screen are of no use; the table beside the chart has all locks. */
const maxRows = 30;

/** A shorter wait would only be a stripe in front of its bar. */
const minWaitMs = 1_000;

/** Of a longer one the end stays: the column with the names is not to take more than a third of the chart. */
const maxNameLength = 36;

/** In pixels, at most: Mermaid writes them 11 high, and letters of scripts that are not Latin may be square. */
const widthOf = (name: string): number => [...name].reduce((width, letter) => width + (letter < '\u0300' ? 8 : 11), 0);

/** A path in characters that mean nothing to Mermaid and cannot end the code block; the table has it as it is. */
function nameOf(path: string): string {
  const plain = path.replace(/[^\p{L}\p{M}\p{N} ._/()+=-]/gu, '_');
  const letters = [...plain];
  return letters.length <= maxNameLength ? plain : `…${letters.slice(1 - maxNameLength).join('')}`;
}

/** Rows with one name would become one. */
function namesOf(bars: readonly Bar[]): readonly string[] {
  const times = new Map<string, number>();
  return bars.map(({ path }) => {
    const name = nameOf(path);
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    return time === 1 ? name : `${name} (${time})`;
  });
}

/** A bar with more marks looks like a grey one. */
const maxMarks = 24;

/** So many of them at most, evenly. */
const thinned = (times: readonly number[]): readonly number[] => {
  const every = Math.ceil(times.length / maxMarks);
  return times.filter((_, index) => index % every === every - 1);
};

/** Without a zone, Mermaid shows a time as it is given; with one, it would show it in that of the reader. */
const utc = (time: number): string => new Date(time).toISOString().replace('T', ' ').replace('Z', '');

function rowOf({ asked, granted, ended, released, renewals }: Bar, name: string): string {
  const from = Math.round(asked);
  const since = Math.round(granted);
  const until = Math.max(Math.round(ended), since + 1);
  const waited = since - from >= minWaitMs ? `    waited :done, ${utc(from)}, ${utc(since)}\n` : '';
  const times = renewals?.().map(Math.round) ?? [];
  // The clock of the service is known to the second only, so that a round may seem to come before the one before it.
  const marks = thinned(times.filter((time) => time > since && time < until).toSorted((one, other) => one - other));
  const ends = [...marks, until];
  const parts = ends.map((end, index) => {
    const begin = index === 0 ? since : (ends[index - 1] ?? since);
    const what = index === 0 ? 'held' : 'renewed';
    const held = released ? `${what} :active` : `${index === 0 ? 'not released' : what} :crit`;
    return `    ${held}, ${utc(begin)}, ${utc(end)}\n`;
  });
  return `    section ${name}\n${waited}${parts.join('')}`;
}

/** Names stand beside the bars: the column for them is too narrow for a path where nobody says how wide it is. */
const withColumnFor = (names: readonly string[]): string =>
  `%%{init: {"gantt": {"leftPadding": ${Math.max(...names.map(widthOf)) + 20}}}}%%\n`;

/** Mermaid knows no times before 1970, and only years of four digits. */
const isDrawable = ({ asked, granted, ended }: Bar): boolean =>
  [asked, granted, ended].every((time) => time >= 0 && time < Date.UTC(9_999, 11));

/** Markdown that GitHub draws as a chart of how long each lock was waited for and held; undefined without locks. */
export function gantt(bars: readonly Bar[]): string | undefined {
  const drawable = bars.filter(isDrawable).toSorted(byPath);
  if (drawable.length === 0) return undefined;
  const shown = drawable.slice(0, maxRows);
  const names = namesOf(shown);
  const rows = shown.map((bar, index) => rowOf(bar, names[index] ?? ''));
  const more = drawable.length - rows.length;
  const rest = more === 0 ? '' : `\nThe chart shows the first ${maxRows} of ${grouped(drawable.length)} locks.\n`;
  // Parts of a bar stand in one row, not each in one of its own.
  const mode = rows.some((row) => row.includes('renewed :')) ? '---\ndisplayMode: compact\n---\n' : '';
  const [begin, end] = [Math.min(...shown.map(({ asked }) => asked)), Math.max(...shown.map(({ ended }) => ended))];
  // The axis has neither the date nor the zone.
  const title = `    title ${clockTime(begin)} to ${clockTime(end)}\n`;
  const format = '    dateFormat YYYY-MM-DD HH:mm:ss.SSS\n    axisFormat %H:%M:%S\n';
  return `\`\`\`mermaid\n${mode}${withColumnFor(names)}gantt\n${title}${format}${rows.join('')}\`\`\`\n${rest}`;
}

interface ChartOptions {
  readonly step: string;
  /** Keys of requests that were granted only because the post-step asked about them. */
  readonly without: ReadonlySet<string>;
  readonly now: number;
  readonly redact: Redact;
}

/** A chart of how long a step waited for its locks and held them; undefined without records. */
export function chartOf(ledger: Ledger, { step, without, now, redact }: ChartOptions): string | undefined {
  let entries: readonly Entry[];
  try {
    ({ entries } = ledger.read());
  } catch {
    return undefined;
  }
  const { grants, endings, losses, renewals } = historyOf(
    entries.filter((entry) => !('key' in entry && without.has(entry.key))),
  );
  const rounds = renewals.get(step) ?? [];
  const bars = grants
    .filter((grant) => grant.step === step)
    .map((grant): Bar => {
      const granted = Date.parse(grant.at);
      const ending = endings.get(grant);
      const over = losses.get(grant.key) ?? ending;
      return {
        path: redact(grant.path),
        asked: granted - grant.waitedMs,
        granted,
        ended: over === undefined ? now : Date.parse(over.at),
        released: ending !== undefined,
        renewals: () => rounds.filter(({ except }) => !except?.includes(grant.path)).map((one) => Date.parse(one.at)),
      };
    });
  return gantt(bars);
}
