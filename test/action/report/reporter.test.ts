import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/action/outcome.ts';
import type { Log } from '../../../src/action/report/reporter.ts';
import { temporaryScripts } from '../../runner/scripts.ts';
import { startJob } from '../../support/runner/start-job.ts';
import type { StepResult } from '../../support/runner/step.ts';

const reporter = new URL('../../../src/action/report/reporter.ts', import.meta.url);
const redact = new URL('../../../src/interface/redact.ts', import.meta.url);
const secret = 'wsa_geheim@0123/456';

type Said = readonly [keyof Log, ...unknown[]];

/** What a runner gets to see of a step that says this, and then ends so. */
async function tell({
  says = [],
  outcome = {},
  debug = false,
}: {
  says?: readonly Said[];
  outcome?: Partial<Outcome>;
  debug?: boolean;
}): Promise<StepResult> {
  const scripts = await temporaryScripts();
  const whole: Outcome = { outputs: {}, sentence: 'Done.', tables: [], failures: [], annotations: [], ...outcome };
  const main = await scripts.add(
    'main',
    `const { createReporter } = await import(${JSON.stringify(reporter.href)});
     const { createRedactor } = await import(${JSON.stringify(redact.href)});
     const secrets = [${JSON.stringify(secret)}];
     const reporter = createReporter(secrets, createRedactor(secrets));
     for (const [how, ...what] of ${JSON.stringify(says)}) reporter.log[how](...what);
     await reporter.finish('Workspace: test', ${JSON.stringify(whole)}, true);`,
  );
  const job = await startJob({ debug });
  return job.run({ main, post: null });
}

const many = (count: number, text: string): readonly string[] =>
  Array.from({ length: count }, (_, number) => `${text} ${number}`);
const texts = ({ annotations }: StepResult, level: string) =>
  annotations.filter((each) => each.level === level).map(({ message }) => message);

describe('annotations', () => {
  test('are ten at the most, whatever there is to say, and the rest is counted and in the log', async () => {
    const result = await tell({
      says: many(30, 'caution').map((text): Said => ['warn', text]),
      outcome: {
        failures: many(20, 'failure'),
        annotations: many(20, 'note').map((text) => ({ file: 'a.txt', title: 'Locked', text })),
      },
    });
    expect(result.annotations).toHaveLength(10);
    expect(texts(result, 'warning')).toEqual([
      'caution 0',
      'caution 1',
      'caution 2',
      'And 27 more warnings: see the log of the step.',
    ]);
    expect(texts(result, 'error')).toEqual([...many(5, 'failure'), 'And 35 more of these: see the log of the step.']);
    for (const text of [...many(30, 'caution'), ...many(20, 'failure'), ...many(20, 'note')]) {
      expect(result.log).toMatch(new RegExp(`${text}$`, 'm'));
    }
    expect(result.exitCode).toBe(1);
  });

  test('are all errors where there is nothing else', async () => {
    const result = await tell({ outcome: { failures: many(10, 'failure') } });
    expect(texts(result, 'error')).toEqual(many(10, 'failure'));
  });

  test('count what there is no place for without an error, too', async () => {
    const result = await tell({ says: many(4, 'caution').map((text): Said => ['warn', text]) });
    expect(texts(result, 'warning')).toEqual([...many(3, 'caution'), 'And 1 more warning: see the log of the step.']);
    expect(result.conclusion).toBe('success');
  });

  test('on a file have no secret in its name, which the runner would not mask', async () => {
    const result = await tell({
      outcome: { failures: ['why'], annotations: [{ file: `a/${secret}.txt`, title: 'Locked', text: `by ${secret}` }] },
    });
    expect(result.annotations.at(-1)).toMatchObject({ file: 'a/***.txt', message: 'by ***' });
    expect(result.rawLog).toContain('file=a/***.txt');
  });
});

test('a secret is masked before anything is said, and then not said', async () => {
  const result = await tell({
    says: [
      ['line', `a ${secret}`],
      ['warn', `b ${encodeURIComponent(secret)}`],
      ['debug', `c ${secret}`],
      ['group', `d ${secret}`, [`e ${secret}`]],
    ],
    outcome: {
      outputs: { holder: secret, locks: JSON.stringify([secret]) },
      sentence: secret,
      tables: [{ head: [secret], rows: [[secret]] }],
      failures: [secret],
    },
  });
  expect(result.written[0]?.text).toBe(`::add-mask::${secret}`);
  const [, ...rest] = result.written.map(({ text }) => text);
  expect(rest.join('\n')).not.toContain('geheim');
  expect(result.rawSummary).not.toContain('geheim');
  expect(result.outputs).toEqual({ holder: '***', locks: '["***"]' });
});

test('a group is unfolded to a hundred lines at the most, and one without lines is a line', async () => {
  const { log } = await tell({
    says: [
      ['group', 'many', many(1_000, 'path')],
      ['group', 'none', []],
    ],
  });
  expect(log.split('\n')).toEqual([
    '##[group]many',
    ...many(100, 'path').map((text) => `  ${text}`),
    '  And 900 more.',
    '##[endgroup]',
    'none',
  ]);
});

test('debug lines are there for who asks for them', async () => {
  const says: readonly Said[] = [['debug', 'inside']];
  expect((await tell({ says })).log).not.toContain('inside');
  expect((await tell({ says, debug: true })).log).toContain('##[debug]inside');
});

describe('an output that is too large for an environment', () => {
  const large = JSON.stringify('x'.repeat(100_000));

  test('is left empty, with a warning that names the file with the same', async () => {
    const result = await tell({
      outcome: { outputs: { status: 'acquired', locks: large, locks_file: '/tmp/l.json' } },
    });
    expect(result.outputs).toEqual({ status: 'acquired', locks: '', locks_file: '/tmp/l.json' });
    expect(texts(result, 'warning')).toEqual([
      'The output `locks` is too large for a step and has been left empty. Use the output `locks_file` instead.',
    ]);
  });

  test('is left empty, and no file is named where there is none', async () => {
    const result = await tell({ outcome: { outputs: { locks: large } } });
    expect(texts(result, 'warning')).toEqual(['The output `locks` is too large for a step and has been left empty.']);
  });

  test('is measured in bytes', async () => {
    const { outputs } = await tell({
      outcome: { outputs: { workspaces: 'ä'.repeat(50_000), branches: 'ä'.repeat(50_001) } },
    });
    expect(outputs['workspaces']).toHaveLength(50_000);
    expect(outputs['branches']).toBe('');
  });
});
