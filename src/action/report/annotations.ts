import type { FileNote } from '../outcome.ts';
import { count } from './words.ts';

export interface Annotation {
  readonly text: string;
  readonly title?: string;
  readonly file?: string;
}

/** GitHub shows ten of a step, and says nothing of the others. */
const most = 10;

/** Why the step failed first, then the notes on files; what is too much is counted in the last one. */
export function annotationsOf(failures: readonly string[], notes: readonly FileNote[]): readonly Annotation[] {
  const all: Annotation[] = [...failures.map((text) => ({ text })), ...notes];
  if (all.length <= most) return all;
  const rest = all.length - (most - 1);
  return [
    ...all.slice(0, most - 1),
    { text: `And ${count(rest, 'more of these', 'more of these')}: see the log of the step.` },
  ];
}
