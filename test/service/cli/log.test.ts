import { expect, test } from 'vitest';
import { createLog } from '../../../src/service/cli/run-service.ts';

function lines(write: (log: ReturnType<typeof createLog>) => void): string {
  const written: string[] = [];
  write(createLog({ logLevel: 'info' }, { write: (text) => void written.push(text) }));
  return written.join('');
}

test('a line has its level by name, and the stack of an error', () => {
  const text = lines((log) => {
    log.warn('one');
    log.error({ err: new Error('The disk is gone') }, 'other');
    log.debug('nobody asked');
  });
  const [one, other, ...more] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([one.level, other.level, more]).toEqual(['warn', 'error', []]);
  expect(other.err).toMatchObject({ message: 'The disk is gone', stack: expect.stringContaining('    at ') });
});

test('a value from outside can neither end a line nor control the terminal', () => {
  const json = lines((log) => log.info({ path: 'a\nFAKE\u001b[2J\u202e' }, 'request'));
  expect(json.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(json).path).toBe('a\nFAKE\u001b[2J\u202e');
  for (const character of ['\u001b', '\u202e']) expect(json).not.toContain(character);
});
