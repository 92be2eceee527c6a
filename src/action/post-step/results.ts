import { conditionOf } from '../../client/known-lock.ts';
import { asOneSegment } from '../../interface/lock-path.ts';
import { shellQuoted } from '../../interface/shell-word.ts';
import type { Grant, LeaseIntent } from '../../locks/ledger/entry.ts';
import type { JobLock } from '../../locks/ledger/history.ts';
import { unansweredText } from '../../locks/messages.ts';
import { releaseResult, untilText } from '../report/release-result.ts';
import type { PathResult } from '../report/results.ts';

/** `mayBeDone`: the request had no response, and is not repeated if nothing identifies the lock. */
export function notReleasedResult(lock: JobLock, reason: string, mayBeDone: boolean, now: number): PathResult {
  // A lock that is known to be lost needs no further request.
  if (lock.loss !== undefined) return releaseResult(lock, { kind: 'other', holder: undefined }, undefined, now);
  const {
    path,
    lock: { id, expires_at },
  } = lock.grant;
  const about = [id === undefined ? '' : `id ${id}`, untilText(lock, now)].filter((text) => text !== '');
  const which = about.length > 0 ? ` (${about.join(', ')})` : '';
  return {
    path,
    result: mayBeDone ? 'may still be locked' : 'not released',
    until: expires_at,
    warning: {
      reason: `Some locks ${mayBeDone ? 'may not have been released' : 'could not be released and will expire'}. ${reason} To release them now:`,
      text: `${path}${which}: ${manualReleaseCommand(lock.grant)}.`,
    },
  };
}

export const unansweredResult = (intent: Pick<LeaseIntent, 'path' | 'ttl' | 'at'>, reason: string): PathResult => ({
  path: intent.path,
  result: 'may still be locked',
  warning: { text: `${unansweredText(intent)} ${reason}` },
});

/** A command that releases the lock without this action. It contains a placeholder for the token. */
export function manualReleaseCommand({ service, workspace, path, lock }: Grant): string {
  const tag = conditionOf(lock);
  const condition = tag === undefined ? '' : ` -H ${shellQuoted(`If-Match: ${tag}`)}`;
  const url = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${asOneSegment(path)}`;
  return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${shellQuoted(url)}`;
}
