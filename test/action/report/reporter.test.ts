import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/action/report/outcome.ts';
import type { Reporter } from '../../../src/action/report/reporter.ts';
import { startJob } from '../../support/runner/start-job.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const reporter = new URL('../../../src/action/report/reporter.ts', import.meta.url);
const secret = 'wsa_geheim@0123/456';

type Said = readonly [keyof Reporter['log'], text: string];

/** Runs a step that logs these lines and ends with this outcome, and returns the result that the runner sees. */
async function tell(outcome: Partial<Outcome>, says: readonly Said[] = [], debug = false): Promise<StepResult> {
  const whole: Outcome = { outputs: {}, sentence: 'Done.', failures: [], annotations: [], ...outcome };
  const main = join(temporaryFolder(), 'main.mjs');
  await writeFile(
    main,
    `const { createReporter } = await import(${JSON.stringify(reporter.href)});
     const reporter = createReporter([${JSON.stringify(secret)}]);
     for (const [how, text] of ${JSON.stringify(says)}) reporter.log[how](text);
     await reporter.finish('Workspace: test', ${JSON.stringify(whole)}, true);`,
  );
  const job = await startJob({ debug });
  return job.run({ main, post: null });
}

const many = (count: number, text: string): readonly string[] =>
  Array.from({ length: count }, (_, number) => `${text} ${number}`);
const warnings = (count: number) => many(count, 'caution').map((text): Said => ['warn', text]);
const texts = ({ annotations }: StepResult, level: string) =>
  annotations.filter((each) => each.level === level).map(({ message }) => message);

describe('the annotations of a step', () => {
  test('are limited to ten errors and ten warnings; the others are counted, and listed in the log', async () => {
    const annotations = many(20, 'note').map((text) => ({ file: 'a.txt', title: 'Locked', text }));
    const result = await tell({ failures: many(20, 'failure'), annotations }, warnings(30));
    expect(result.annotations).toHaveLength(20);
    expect(texts(result, 'warning')).toEqual([...many(9, 'caution'), 'And 21 more warnings: see the log of the step.']);
    expect(texts(result, 'error')).toEqual([...many(9, 'failure'), 'And 31 more errors: see the log of the step.']);
    for (const text of [...many(30, 'caution'), ...many(20, 'failure'), ...many(20, 'note')]) {
      expect(result.log).toMatch(new RegExp(`${text}$`, 'm'));
    }
    expect(result.exitCode).toBe(1);
  });

  test('count those that the log does not list', async () => {
    const result = await tell({}, warnings(109 + 1));
    expect(texts(result, 'warning').at(-1)).toBe('And 101 more warnings: the log of the step has the first 100.');
    expect(result.log.match(/^Warning: /gm)).toHaveLength(100);
  });
});

test('masks a secret before any other output, and hides it everywhere, even in file names', async () => {
  const says: readonly Said[] = [
    ['line', `a ${secret}`],
    ['warn', `b ${encodeURIComponent(secret)}`],
    ['debug', `c ${secret}`],
  ];
  const outcome: Partial<Outcome> = {
    outputs: { holder: secret, locks: JSON.stringify([secret]) },
    sentence: `d ${secret}`,
    lines: [`e ${secret}`],
    table: { head: [secret], rows: [[secret]] },
    failures: [secret],
    annotations: [{ file: `a/${secret}.txt`, title: 'Locked', text: `by ${secret}` }],
  };
  const result = await tell(outcome, says);
  expect(result.written[0]).toBe(`::add-mask::${secret}`);
  const [, ...rest] = result.written;
  expect(rest.join('\n')).not.toContain('geheim');
  // The runner does not mask properties.
  expect(rest.join('\n')).toContain('file=a/***.txt');
  expect(result.annotations.at(-1)).toMatchObject({ file: 'a/***.txt', message: 'by ***' });
  expect(result.summary).not.toContain('geheim');
  expect(result.outputs).toEqual({ holder: '***', locks: '["***"]' });
});

test('prints at most a hundred lines below its sentence, and debug lines only on request', async () => {
  const folded = ['##[group]Done.', ...many(100, 'path').map((text) => `  ${text}`), '  And 900 more.', '##[endgroup]'];
  const says: readonly Said[] = [['debug', 'inside']];
  expect((await tell({ lines: many(1_000, 'path') }, says)).log.split('\n')).toEqual(folded);
  expect((await tell({}, says)).log).toBe('Done.');
  expect((await tell({}, says, true)).log).toContain('##[debug]inside');
});

test('leaves an output empty if it is too large for an environment variable, with a warning', async () => {
  const tooLong = 'x'.repeat(30_001);
  const outputs = { status: 'acquired', locks: tooLong, locks_file: '/tmp/l.json' };
  const result = await tell({
    outputs: { ...outputs, workspaces: 'ä'.repeat(50_000), branches: 'ä'.repeat(50_001) },
  });
  expect(result.outputs).toEqual({ ...outputs, locks: '', workspaces: 'ä'.repeat(50_000), branches: '' });
  const left = (name: string) => `The output \`${name}\` is too large for a step and was left empty.`;
  expect(texts(result, 'warning')).toEqual([
    `${left('locks')} Use the output \`locks_file\` instead. To pass the locks to another job, upload that file as an artifact.`,
    left('branches'),
  ]);
  expect(texts(await tell({ outputs: { locks: tooLong } }), 'warning')).toEqual([left('locks')]);
  const longest = 'ä'.repeat(30_000);
  expect(await tell({ outputs: { locks: longest } })).toMatchObject({ outputs: { locks: longest }, annotations: [] });
});
