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

const toolkit: typeof import('@actions/core') = await import('@actions/core');
const texts = fc.string({ unit: fc.constantFrom(':', ',', '%', '=', '\r', '\n', '%0A', 'ä', ' ', 'a', '💥') });

test.each(['info', 'debug', 'warning', 'startGroup', 'setSecret'] as const)(
  '%s writes what the toolkit writes, whatever it is',
  (name) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(written(() => commands[name](text))).toBe(written(() => toolkit[name](text)));
      }),
    );
  },
);

test('error and its place are written as the toolkit writes them, whatever they are', () => {
  const properties = fc.record({ title: texts, file: texts }, { requiredKeys: [] });
  fc.assert(
    fc.property(texts, properties, (text, place) => {
      expect(written(() => commands.error(text, place))).toBe(
        written(() => toolkit.error(text, { title: place.title ?? '', file: place.file ?? '' })),
      );
    }),
  );
});

test('a group ends as that of the toolkit does', () => {
  expect(written(commands.endGroup)).toBe(written(toolkit.endGroup));
});
