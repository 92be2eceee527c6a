import { clockTime, formatNumber, pluralize } from '../../interface/format.ts';
import type { Grant } from '../../locks/ledger/entry.ts';
import { heldText } from '../../locks/messages.ts';
import type { ReleaseResult } from '../../locks/release.ts';
import type { RollbackResult } from '../../locks/roll-back.ts';

/** Reports on the locks that were acquired before one could not be. */
export function rollBackTexts({ releases }: RollbackResult, asked: number, now: number): readonly string[] {
  if (releases.length === 0) return [];
  const left = releases
    .map(({ grant, result }) => releaseText(grant, result, now))
    .filter((text) => text !== undefined);
  const released = releases.length - left.length;
  return [
    `${formatNumber(releases.length)} of ${pluralize(asked, 'path')} had been locked; ${pluralize(released, 'was', 'were')} released again.`,
    ...left,
  ];
}

function releaseText({ path, lock }: Grant, result: ReleaseResult, now: number): string | undefined {
  switch (result.kind) {
    case 'released':
    case 'absent':
      return undefined;
    case 'other':
      return `The lock on ${path} was lost before it could be released. ${heldText(path, result.holder, now)}.`;
    case 'ambiguous':
      return `The lock on ${path} may have expired, and the service gave no id or ETag to identify it: the current lock was left alone.`;
    case 'unanswered':
    case 'failed':
      return `The lock on ${path} could not be released and stays until ${clockTime(Date.parse(lock.expires_at), now)}, unless the post-step releases it: ${result.error.message}`;
  }
}
