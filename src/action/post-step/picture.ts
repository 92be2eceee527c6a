import type { Entry, Grant } from '../ledger/entry.ts';
import { historyOf, isAbout, samePlace } from '../ledger/history.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Bar, gantt } from './gantt.ts';

/** When the lock ended, if the ledger tells. */
function endOf(entries: readonly Entry[], grant: Grant): number | undefined {
  const from = entries.indexOf(grant);
  const ending = entries.find(
    (entry, index) => index > from && entry.kind === 'ended' && samePlace(entry, grant) && isAbout(entry, grant.lock),
  );
  return ending && Date.parse(ending.at);
}

export interface PictureOptions {
  readonly step: string;
  /** Keys of requests that were only granted to find out whether they had been. */
  readonly without: ReadonlySet<string>;
  readonly now: number;
  /** Takes secrets out of a text. */
  readonly conceal: (text: string) => string;
}

/** A picture of how long a step waited for its locks and held them; undefined where nothing tells. */
export function pictureOf(ledger: Ledger, { step, without, now, conceal }: PictureOptions): string | undefined {
  let entries: readonly Entry[];
  try {
    ({ entries } = ledger.read());
  } catch {
    return undefined;
  }
  const bars = historyOf(entries.filter((entry) => !('key' in entry && without.has(entry.key))))
    .grants.filter((grant) => grant.step === step)
    .map((grant): Bar => {
      const granted = Date.parse(grant.at);
      const end = endOf(entries, grant);
      return {
        path: conceal(grant.path),
        asked: granted - grant.waitedMs,
        granted,
        ended: end ?? now,
        released: end !== undefined,
      };
    });
  return gantt(bars);
}
