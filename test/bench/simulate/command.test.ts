import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Figure } from '../../../bench/benchmark.ts';
import { ceilingName, takenName } from '../../../bench/service.ts';
import { simulate } from '../../../bench/simulate/simulation.ts';
import { whatBreaks } from '../../../bench/simulate/study.ts';
import { pageBytesName, pageName, pollsName } from '../../../bench/waiting.ts';
import { startProgram } from '../program.ts';
import { someFigure, someResults } from '../some-results.ts';
import { someTimes, someWorkload } from './some-service.ts';

const main = join(import.meta.dirname, '../../../bench/simulate/main.ts');

const command = (...args: readonly string[]) => startProgram([main, ...args]).ended;

function load(name: string, value: number, p50: number): Figure {
  const percentiles = [
    [50, p50],
    [99, 4 * p50],
  ] as const;
  const details = [{ kind: 'distribution', name: 'until the answer', unit: 'ms', percentiles }] as const;
  return someFigure({ name, value, unit: '/s', details });
}

const figures: readonly Figure[] = [1, 32, 256]
  .flatMap((clients) => [
    load(ceilingName(clients), 3_000, clients / 3),
    load(pollsName('SQLite', clients), 2_000, clients / 2),
    load(takenName('SQLite', clients), clients === 1 ? 200 : 1_000, clients === 1 ? 5 : clients),
  ])
  .concat([
    someFigure({ name: pageName('SQLite'), value: 10, unit: 'ms' }),
    someFigure({ name: pageBytesName('SQLite'), value: 240, unit: 'KB' }),
  ]);

async function resultsFile(measured: readonly Figure[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulate-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'results.json');
  await writeFile(file, JSON.stringify(someResults({ figures: measured })));
  return file;
}

describe('npm run simulate', () => {
  test.each([
    [['--jobs', 'many'], 'It is a whole number from 1 to 10000000.'],
    [['--write', '--alone'], "cannot be used with option '--alone'"],
  ])('tells of the mistake in %j, with exit code 2', async (args, sentence) => {
    const stderr = expect.stringContaining(sentence);
    expect(await command(...args)).toEqual({ code: 2, stdout: '', stderr });
  });

  test('tells what to run when nothing was measured, with exit code 1', async () => {
    const missing = await command('--results', join(tmpdir(), 'there is no such file'));
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('npm run bench') });
    const without = figures.filter(({ name }) => name !== pollsName('SQLite', 256));
    const { code, stderr } = await command('--results', await resultsFile(without));
    expect(code).toBe(1);
    expect(stderr).toContain('Run npm run bench -- service polls.');
  });

  test('simulates what the flags say from what was measured, and says the same again', async () => {
    const args = ['--results', await resultsFile(figures), '--jobs', '50', '--minutes', '1', '--alone'];
    const first = await command(...args);
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/^How long jobs wait/m);
    expect(first.stdout).not.toMatch(/NaN|undefined|Infinity/);
    expect(first.stdout).toMatch(/^ +Jobs at the same time +50$/m);
    expect((await command(...args)).stdout).toBe(first.stdout);
  });
});

test('what breaks first comes first, and what holds says how much of it is used', async () => {
  const outcome = await simulate({ workload: { ...someWorkload, jobs: 2 }, times: someTimes, seed: 1, minutes: 1 });
  const sweep = [4, 2, 1].map((jobs) => ({ ...outcome, jobs }));
  const limit = (name: string, per: number) => ({
    name,
    reachedWhen: '',
    used: ({ jobs }: { jobs: number }) => jobs / per,
  });
  const broken = whatBreaks([limit('never', 40), limit('late', 4), limit('soon', 1.5)], sweep);
  expect(broken.map(({ limit: { name }, jobs, used }) => [name, jobs, used])).toEqual([
    ['soon', 2, 4 / 1.5],
    ['late', 4, 1],
    ['never', undefined, 0.1],
  ]);
});

test('docs/scaling.md has no figure but in what the command writes', async () => {
  const page = await readFile(new URL('../../../docs/scaling.md', import.meta.url), 'utf8');
  const places = [...page.matchAll(/^<!-- (?:simulate )?(\w+): .*?<!-- \/(?:simulate )?\1 -->$/gms)];
  const names = ['bench', 'breaks', 'hottest', 'measured', 'model', 'sweep', 'variants', 'waits', 'workload'];
  expect(places.map(([, name]) => name).toSorted()).toEqual(names);
  for (const [text] of places) expect(text).toContain('\n|---|');
  const prose = places.reduce((rest, [text]) => rest.replace(text, ''), page);
  expect(prose).not.toMatch(/\d/);
});
