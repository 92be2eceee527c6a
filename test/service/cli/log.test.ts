import { expect, test } from 'vitest';
import { createLog } from '../../../src/service/cli/run-service.ts';

function lines(write: (log: ReturnType<typeof createLog>) => void, columns?: number): string {
  const written: string[] = [];
  write(createLog({ logLevel: 'info' }, { write: (text) => void written.push(text), columns }));
  return written.join('');
}

test('the log is text on a terminal, and JSON in a pipe', () => {
  const isJson = (columns?: number) => lines((log) => log.info('here'), columns).startsWith('{');
  expect([isJson(80), isJson()]).toEqual([false, true]);
});

test('a text line has time, level and message, and the stack of an error below it', () => {
  const error = Object.assign(new Error('The disk is gone'), { stack: 'Error: The disk is gone\n    at here' });
  const text = lines((log) => {
    log.info({ base_url: 'http://127.0.0.1:8080/v1', port: 8080 }, 'listening');
    log.error({ err: error }, 'it cannot be stored');
    log.debug('nobody asked');
  }, 80);
  expect(text.replaceAll(/^\d\d:\d\d:\d\d/gm, 'TIME')).toBe(
    'TIME info  listening  base_url=http://127.0.0.1:8080/v1  port=8080\nTIME error it cannot be stored  error=The disk is gone\n    at here\n',
  );
});

test('a JSON line has its level by name', () => {
  const text = lines((log) => {
    log.warn('one');
    log.error('other');
  });
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).level),
  ).toEqual(['warn', 'error']);
});

test('a value from outside can neither end a line nor control the terminal', () => {
  const text = lines((log) => log.info({ path: 'a\nFAKE\u001b[2J\u202e' }, 'request'), 80);
  expect(text.trimEnd().split('\n')).toHaveLength(1);
  for (const character of ['\u001b', '\u202e']) expect(text).not.toContain(character);
  const json = lines((log) => log.info({ path: 'a\u202e' }, 'request'));
  expect(JSON.parse(json).path).toBe('a\u202e');
  expect(json).not.toContain('\u202e');
});
