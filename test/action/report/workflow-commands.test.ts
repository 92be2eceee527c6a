import * as toolkit from '@actions/core';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import * as commands from '../../../src/action/report/workflow-commands.ts';

/** What is written to the log meanwhile. */
function written(say: () => void): string {
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  try {
    say();
  } finally {
    write.mockRestore();
  }
  return lines.join('');
}

const texts = fc.string({ unit: fc.constantFrom(':', ',', '%', '=', '\r', '\n', '%0A', 'ä', ' ', 'a', '💥') });

test.each([
  ['info', commands.info, toolkit.info],
  ['debug', commands.debug, toolkit.debug],
  ['warning', commands.warning, toolkit.warning],
  ['startGroup', commands.startGroup, toolkit.startGroup],
  ['setSecret', commands.setSecret, toolkit.setSecret],
])('%s writes what the toolkit writes, whatever it is', (_, ours, theirs) => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(written(() => ours(text))).toBe(written(() => theirs(text)));
    }),
  );
});

test('an error and its place are written as the toolkit writes them, whatever they are', () => {
  const named = texts.filter((text) => text !== '');
  const places = fc.record({ title: named, file: named }, { requiredKeys: [] });
  fc.assert(
    fc.property(texts, places, (text, place) => {
      expect(written(() => commands.error(text, place))).toBe(written(() => toolkit.error(text, place)));
    }),
  );
});

test('a group ends as that of the toolkit does', () => {
  expect(written(commands.endGroup)).toBe(written(toolkit.endGroup));
});
