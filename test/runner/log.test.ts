import { describe, expect, test } from 'vitest';
import type { JobOptions } from '../support/runner/job.ts';
import { createMasks } from '../support/runner/masks.ts';
import { startJob } from '../support/runner/start-job.ts';
import { createStepLog } from '../support/runner/step-log.ts';
import { temporaryActionFile, temporaryScripts } from './scripts.ts';

/** The log after these lines. */
function logOf(lines: readonly string[], { debug = false, secrets = [] as readonly string[] } = {}) {
  const masks = createMasks(secrets);
  const log = createStepLog({ masks, workspace: '/home/runner/dragon', debug });
  for (const text of lines) log.take({ stream: 'stdout', text });
  return { ...log, text: log.shown.join('\n'), masks: masks.values() };
}

describe('the log of a step', () => {
  test('shows annotations as the runner prints them, and collects their properties', () => {
    const log = logOf([
      '::error file=/home/runner/dragon/Content/Hero.uasset,line=3,title=Held::It is%0Aheld',
      '::warning file=Content/Sky.uasset::Soon',
      '::notice file=/elsewhere/a::Fine',
    ]);
    expect(log.text).toBe('##[error]It is\nheld\n##[warning]Soon\n##[notice]Fine');
    expect(log.annotations).toEqual([
      { level: 'error', message: 'It is\nheld', title: 'Held', file: 'Content/Hero.uasset', by: 'action' },
      { level: 'warning', message: 'Soon', file: 'Content/Sky.uasset', by: 'action' },
      { level: 'notice', message: 'Fine', file: '/elsewhere/a', by: 'action' },
    ]);
    expect(log.failed()).toBe(false);
  });

  test('truncates a long annotation, but not its line', () => {
    const log = logOf([`::error::${'x'.repeat(5000)}`]);
    expect(log.annotations[0]?.message).toHaveLength(4096);
    expect(log.text).toHaveLength('##[error]'.length + 5000);
  });

  test('shows debug lines and commands only with debug logging', () => {
    const lines = ['::debug::one%0Atwo', 'text', '::group::A', '::add-mask::geheim', '::error::C'];
    expect(logOf(lines)).toMatchObject({ text: 'text\n##[group]A\n##[error]C', debug: ['one\ntwo'] });
    const all = ['##[debug]one', '##[debug]two', 'text', '::group::A', '##[group]A', '::add-mask::***', '##[error]C'];
    expect(logOf(lines, { debug: true }).text.split('\n')).toEqual(all);
  });
});

describe('a secret', () => {
  test('is masked in lines and messages, but not in titles, as soon as it is known', () => {
    const log = logOf(['geheim', '::add-mask::geheim', 'x geheimgeheim y', '::error title=geheim::geheim']);
    expect(log.text).toBe('geheim\nx *** y\n##[error]***');
    expect(log.annotations).toMatchObject([{ title: 'geheim', message: '***' }]);
  });

  test('is masked as a whole and line by line if it has several lines', () => {
    const log = logOf([
      '::add-mask::first line%0D%0A  second line ',
      'a first line b',
      'second line',
      '::error::first line%0D%0A  second line ',
    ]);
    expect(log.text).toBe('a *** b\n***\n##[error]***');
    expect(log.masks).toEqual(['first line\r\n  second line ', 'first line', 'second line']);
  });

  test.each([
    ['Base64', Buffer.from('a"b\'c&d<é').toString('base64')],
    ['Base64 after one byte', Buffer.from('a"b\'c&d<é').subarray(1).toString('base64')],
    ['Base64 after two bytes', Buffer.from('a"b\'c&d<é').subarray(2).toString('base64')],
    ['JSON', 'a\\"b\'c&d<é'],
    ['a URL', 'a%22b%27c%26d%3C%C3%A9'],
    ['XML', 'a&quot;b&apos;c&amp;d&lt;é'],
    ['an expression', "a\"b''c&d<é"],
  ])('is masked in %s', (_, encoded) => {
    expect(logOf([`<${encoded}>`], { secrets: ['a"b\'c&d<é'] }).text).toBe('<***>');
  });

  test('is masked without its quotes if it is long enough', () => {
    expect(logOf(['long-secret', 'short'], { secrets: ['"long-secret"', '"short"'] }).text).toBe('***\nshort');
  });

  test('is masked together with another one that overlaps it', () => {
    expect(createMasks(['abcd', 'cdef', 'xx']).apply('-abcdef-xxabcd-xxx-')).toBe('-***-***-***-');
  });
});

describe('the output of a process', () => {
  async function start(code: string, options: JobOptions = {}) {
    const scripts = await temporaryScripts();
    const job = await startJob({ ...options, actionFile: await temporaryActionFile(scripts, '') });
    return { job, step: await job.step({ main: await scripts.add('main', code), post: null }) };
  }
  const run = async (code: string, options: JobOptions = {}) => (await start(code, options)).step.finished;

  test('is read completely, including characters split across chunks', async () => {
    const result = await run(`
      const bytes = Buffer.from('ü'.repeat(100_000) + '\\n');
      for (let at = 0; at < bytes.length; at += 4097) await new Promise((done) => process.stdout.write(bytes.subarray(at, at + 4097), done));
    `);
    expect(result.rawLog).toBe('ü'.repeat(100_000));
  });
});
