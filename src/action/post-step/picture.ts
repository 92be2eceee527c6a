import type { Entry } from '../ledger/entry.ts';
import { historyOf } from '../ledger/history.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Bar, gantt } from './gantt.ts';

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
  const { grants, endings } = historyOf(entries.filter((entry) => !('key' in entry && without.has(entry.key))));
  const bars = grants
    .filter((grant) => grant.step === step)
    .map((grant): Bar => {
      const granted = Date.parse(grant.at);
      const ending = endings.get(grant);
      return {
        path: conceal(grant.path),
        asked: granted - grant.waitedMs,
        granted,
        ended: ending === undefined ? now : Date.parse(ending.at),
        released: ending !== undefined,
      };
    });
  return gantt(bars);
}
