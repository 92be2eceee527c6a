import { durationUpTo } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { auditActions, isAuditAction } from '../../audit/audit.ts';
import { type AuditPage, type AuditQuery, type RecordedEntry, readAudit } from '../../audit/read-audit.ts';
import type { Storage } from '../../storage/storage.ts';
import { parseAuditActor } from '../../tokens/audit-actor.ts';
import { didYouMean } from '../did-you-mean.ts';
import { optional, withDefault } from '../flags.ts';
import { table } from '../output/table.ts';
import { shownTime } from '../output/times.ts';
import { defineStorageCommand } from '../storage-command.ts';
import { wholeNumber } from '../values.ts';

const pageSize = 1_000;
const maxEntries = 1_000_000;
const maxNumber = 999_999_999_999_999;
const maxAgo = { seconds: 36_500 * 86_400 };

function parseAction(text: string): Parsed<string> {
  return isAuditAction(text)
    ? accepted(text)
    : refused(`${didYouMean(text, auditActions)}The actions are ${auditActions.join(', ')}.`);
}

/** In pages, so that no query is long; the limit alone says how many there are in the end. */
async function entriesUpTo(storage: Storage, query: AuditQuery): Promise<AuditPage> {
  const entries: RecordedEntry[] = [];
  let next = query.before;
  do {
    const limit = Math.min(pageSize, query.limit - entries.length);
    const page = await readAudit(storage, { ...query, limit, before: next });
    entries.push(...page.entries);
    next = page.next;
  } while (next !== undefined && entries.length < query.limit);
  return { entries, next };
}

/** What could be taken for something else, such as a further member, is written as JSON. */
const shown = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"'=,[\]{}]+$/.test(value) ? value : JSON.stringify(value);

const shownDetail = (detail: RecordedEntry['detail']): string =>
  Object.entries(detail)
    .map(([name, value]) => `${shown(name)}=${shown(value)}`)
    .join(' ');

function whyEmpty({ since, action, actor, before }: AuditQuery): string {
  const all = [since, action, actor, before].every((filter) => filter === undefined);
  return all ? 'Nothing has been recorded yet.' : 'No entry matches.';
}

export const audit = defineStorageCommand({
  name: 'audit',
  summary: 'list who did what, when, and from where; the newest first',
  details: [
    `Actions: ${auditActions.join(', ')}.`,
    'Entries are never changed or removed. What a token does with its own locks and syncs is in the log, not here.',
  ],
  arguments: {},
  flags: {
    limit: withDefault(
      { placeholder: 'N', what: 'how many entries to list at most' },
      '100',
      wholeNumber(1, maxEntries),
    ),
    since: optional(
      { placeholder: 'DURATION', what: 'how far back to look, such as 12h or 90d' },
      'default the beginning',
      durationUpTo(maxAgo, '36500d'),
    ),
    action: optional(
      { placeholder: 'ACTION', what: 'only this action, such as token.created' },
      'default all',
      parseAction,
    ),
    actor: optional(
      { placeholder: 'ACTOR', what: 'only entries by this token (its name or id), or by operator:NAME' },
      'default all',
      parseAuditActor,
    ),
    before: optional(
      { placeholder: 'N', what: 'only entries older than the one with this number' },
      'default none',
      wholeNumber(1, maxNumber),
    ),
  },
  example: '--since 7d --action lock.force-released',
  async run({ flags }, storage) {
    const query = {
      limit: flags.limit,
      since: flags.since ?? undefined,
      action: flags.action ?? undefined,
      actor: flags.actor ?? undefined,
      before: flags.before ?? undefined,
    };
    const { entries, next } = await entriesUpTo(storage, query);
    const document = { entries, next: next ?? null };
    if (entries.length === 0) return { document, lines: [whyEmpty(query)] };
    const rows = entries.map(({ at, actor, token_id, address, action, detail }) => [
      shownTime(at),
      actor,
      token_id ?? '',
      address ?? '',
      action,
      shownDetail(detail),
    ]);
    const older = next === undefined ? [] : ['', `There are older entries: add --before ${next}.`];
    return { document, lines: [...table(['WHEN', 'WHO', 'TOKEN', 'ADDRESS', 'ACTION', 'DETAIL'], rows), ...older] };
  },
});
