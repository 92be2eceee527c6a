import fc from 'fast-check';
import { expect, test } from 'vitest';
import { annotationsOf } from '../../../src/action/report/annotations.ts';

const note = (number: number) => ({ file: `${number}.uasset`, title: 'Locked', text: `note ${number}` });
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);

test('what fits is shown, failures before notes', () => {
  expect(annotationsOf(['why'], [note(1)], 10)).toEqual({ shown: [{ text: 'why' }, note(1)], others: [] });
});

test('what does not fit is counted in the last one', () => {
  const { shown, others } = annotationsOf(['why'], numbers(30).map(note), 10);
  expect(shown).toHaveLength(10);
  expect(shown.at(-1)).toEqual({ text: 'And 22 more of these: see the log of the step.' });
  expect(others).toEqual(numbers(30).map(note).slice(8));
});

test('there are never more than there is place for, and none gets lost', () => {
  fc.assert(
    fc.property(fc.nat(40), fc.nat(40), fc.integer({ min: 1, max: 10 }), (failures, notes, places) => {
      const all = [...numbers(failures).map((number) => ({ text: `failure ${number}` })), ...numbers(notes).map(note)];
      const { shown, others } = annotationsOf(
        numbers(failures).map((number) => `failure ${number}`),
        numbers(notes).map(note),
        places,
      );
      expect(shown.length).toBeLessThanOrEqual(places);
      const told = others.length === 0 ? shown : shown.slice(0, -1);
      expect([...told, ...others]).toEqual(all);
      if (others.length > 0) expect(shown.at(-1)?.text).toContain(`And ${others.length} more`);
    }),
  );
});
