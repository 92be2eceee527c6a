import type { Intent } from '../ledger/entry.ts';
import { clockTime, count, grouped } from '../report/words.ts';
import type { GivenBack } from './give-back.ts';
import { heldText } from './holder-text.ts';

/** Of a request without an answer: until when there may be a lock that nobody can show to be theirs. */
export const unprovenText = ({ path, ttl, at }: Intent): string =>
  `Whether ${path} was locked by this step is not known: its request of ${at} had no answer, and the service does not tell now. If it was, that lock ends ${ttl} after it was taken.`;

/** What happened to the locks that were taken before it turned out that not all can be had. */
export function backTexts(back: GivenBack, asked: number, now: number): readonly string[] {
  const texts: string[] = [];
  const had = back.done.length + back.lost.length + back.leftAlone.length + back.failed.length;
  if (had > 0) {
    texts.push(`Of ${count(asked, 'path')}, ${grouped(had)} had been locked; ${grouped(back.done.length)} given back.`);
  }
  for (const { grant, error } of back.failed) {
    texts.push(
      `The lock on ${grant.path} could not be given back and stays until ${clockTime(Date.parse(grant.lock.expires_at), now)}, unless the end of the job can release it: ${error.message}`,
    );
  }
  for (const { grant, holder } of back.lost) {
    texts.push(
      `The lock on ${grant.path} was lost before it could be given back. ${heldText(grant.path, holder, now)}.`,
    );
  }
  for (const { path } of back.leftAlone) {
    texts.push(
      `The lock on ${path} may have ended meanwhile, and the service gave nothing to tell it from another: what is there now has been left alone.`,
    );
  }
  return texts;
}
