import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyValuePairs } from '../support/runner/file-commands.ts';
import { startJob } from '../support/runner/start-job.ts';
import { temporaryActionFile, temporaryScripts } from './scripts.ts';

/** The parsed pairs, and the error after them, if any. */
function read(...lines: readonly string[]) {
  const pairs: (readonly [string, string])[] = [];
  try {
    for (const pair of keyValuePairs(lines.join('\n'))) pairs.push(pair);
    return { pairs };
  } catch (error) {
    return { pairs, mistake: error instanceof Error ? error.message : '' };
  }
}

describe('a file of key-value pairs', () => {
  test.each<[string, string[], Readonly<Record<string, string>>]>([
    ['no content', [''], {}],
    ['a pair in one line', ['a=b'], { a: 'b' }],
    ['an empty value', ['a='], { a: '' }],
    ['further equals signs', ['a==b=', 'c=d<<e'], { a: '=b=', c: 'd<<e' }],
    ['significant blanks', [' a = b '], { ' a ': ' b ' }],
    ['empty lines between pairs', ['', 'a=b', '', '', 'c=d', ''], { a: 'b', c: 'd' }],
    ['a multiline value', ['a<<EOF', 'one', '', 'two', 'EOF'], { a: 'one\n\ntwo' }],
    ['an empty multiline value', ['a<<EOF', 'EOF', 'b=c'], { a: '', b: 'c' }],
    ['a value that ends in a line break', ['a<<EOF', 'one', '', 'EOF'], { a: 'one\n' }],
    ['delimiters with special characters', ['a<<=x', '1', '=x', 'b<<<x', '2', '<x'], { a: '1', b: '2' }],
    ['lines that resemble the delimiter', ['a<<E', ' E', 'E ', 'E\r', 'E'], { a: ' E\nE \nE\r' }],
    ['a carriage return as part of a value', ['a=b\r'], { a: 'b\r' }],
  ])('may have %s', (_, lines, pairs) => {
    expect(read(...lines)).toEqual({ pairs: Object.entries(pairs) });
  });

  test.each([
    ['a line without a pair', ['a'], "Invalid format 'a'"],
    ['an empty name', ['=b'], "Invalid format '=b'. Name must not be empty"],
    ['an empty name before a delimiter', ['<<EOF', 'EOF'], "Invalid format '<<EOF'. Name must not be empty"],
    ['an empty delimiter', ['a<<', ''], "Invalid format 'a<<'. Delimiter must not be empty"],
    ['an unterminated value', ['a<<EOF', 'one', ''], "Invalid value. Matching delimiter not found 'EOF'"],
    ['a truncated delimiter', ['a<<EOF', 'one', 'EO'], 'Invalid value. EOF marker missing new line.'],
  ])('must not have %s', (_, lines, mistake) => {
    expect(read('before=1', ...lines, 'after=1')).toMatchObject({ pairs: [['before', '1']] });
    expect(read('before=1', ...lines)).toEqual({ pairs: [['before', '1']], mistake });
  });

  test('returns any value whose text does not contain the delimiter', () => {
    const text = fc.string({ unit: 'binary' });
    const name = text.filter((it) => it !== '' && !/[\n=]|<</.test(it));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text)), (pairs) => {
        const lines = pairs.flatMap(([key, value]) => [`${key}<<ghadelimiter_1`, value, 'ghadelimiter_1']);
        expect(read(...lines)).toEqual({ pairs });
      }),
    );
  });
});

describe('the command files of a step', () => {
  async function run(code: string) {
    const scripts = await temporaryScripts();
    const job = await startJob({ actionFile: await temporaryActionFile(scripts, '') });
    return job.run({ main: await scripts.add('main', code), post: null });
  }

  test('are read as the toolkit writes them', async () => {
    const toolkit = JSON.stringify(import.meta.resolve('@actions/core'));
    const result = await run(`
      const core = await import(${toolkit});
      core.setOutput('locks', [{ path: 'a=b<<EOF' }]);
      core.setOutput('text', 'one\\r\\ntwo%0A\\n');
      core.saveState('step', 'id');
      core.exportVariable('LEVEL', 'high\\nest');
      core.addPath('/tools');
      core.setSecret('geheim');
      await core.summary.addHeading('All geheim').write();
    `);
    expect(result).toMatchObject({
      conclusion: 'success',
      outputs: { locks: '[{"path":"a=b<<EOF"}]', text: 'one\r\ntwo%0A\n' },
      state: { step: 'id' },
      env: { LEVEL: 'high\nest' },
      paths: ['/tools'],
      rawSummary: '<h1>All geheim</h1>\n',
      summary: '<h1>All ***</h1>\n',
      masks: expect.arrayContaining(['geheim']),
    });
  });

  test('fail the step if one is invalid, but entries before the error count', async () => {
    const result = await run(`fs.writeFileSync(env.GITHUB_OUTPUT, 'a=1\\nb<<EOF\\n2\\n')`);
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 0, outputs: { a: '1' } });
    expect(result.annotations).toMatchObject([
      { level: 'error', by: 'runner', message: "Unable to process file command 'output' successfully." },
      { level: 'error', by: 'runner', message: "Invalid value. Matching delimiter not found 'EOF'" },
    ]);
  });

  test('allow a summary of 1 MiB, and a larger one is not shown', async () => {
    const sized = (size: number) => run(`fs.writeFileSync(env.GITHUB_STEP_SUMMARY, 'ü' + 'x'.repeat(${size} - 2))`);
    const [fits, tooLarge] = await Promise.all([sized(1024 * 1024), sized(1024 * 1024 + 1)]);
    expect(Buffer.byteLength(fits.summary)).toBe(1024 * 1024);
    expect(fits.annotations).toEqual([]);
    expect(tooLarge).toMatchObject({ conclusion: 'success', summary: '' });
    expect(tooLarge.rawSummary).not.toBe('');
    expect(tooLarge.annotations).toMatchObject([{ level: 'error', message: expect.stringContaining('1024k') }]);
  });
});
