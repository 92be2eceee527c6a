import type { FileNote } from '../outcome.ts';
import { count } from './words.ts';

export interface Annotation {
  readonly text: string;
  readonly title?: string;
  readonly file?: string;
}

/** GitHub shows ten of a step, and says nothing of the others. */
export const mostAnnotations = 10;

/** Of these; the other places are for what a step fails for. */
export const mostWarnings = 4;

export interface Chosen {
  readonly shown: readonly Annotation[];
  /** What there was no place for; the last one that is shown counts it. */
  readonly others: readonly Annotation[];
}

/** Why the step failed first, then the notes on files; what is too much is counted in the last one. */
export function annotationsOf(failures: readonly string[], notes: readonly FileNote[], places: number): Chosen {
  const all: Annotation[] = [...failures.map((text) => ({ text })), ...notes];
  if (all.length <= places) return { shown: all, others: [] };
  const others = all.slice(places - 1);
  const counted = { text: `And ${count(others.length, 'more of these', 'more of these')}: see the log of the step.` };
  return { shown: [...all.slice(0, places - 1), counted], others };
}
