import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'rolldown/utils';
import { randomOf } from '../test/support/seed.ts';
import { withText } from './markdown.ts';
import { type Mistake, mistakesIn } from './mistakes.ts';

/**
 * Makes mistakes in the code of the last commit, one at a time, and runs the nearest tests. A mistake that no test notices
 * survives: `npm run mutants -- [--since REVISION] [--seed N] [--minutes N] [--report FILE] [FILE|FOLDER …]`.
 * With `--evidence`, the result is written into docs/evidence.md.
 */

const { values: given, positionals: places } = parseArgs({
  options: {
    since: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '15' },
    report: { type: 'string' },
    evidence: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const mostSurvivors = 0.09;
/** The nearest of the tests that import the file, and as many of those that start a program made of it. */
const mostTests = 48;
const testsAtOnce = 16;
/** Slower ones of those at once are left out. */
const secondsAtOnce = 20;

/** Tests that import these start a program whose sources are those. */
const programs: Readonly<Record<string, readonly string[]>> = {
  'test/support/runner/action-file.ts': ['src/action/main.ts', 'src/action/post.ts', 'src/action/renew.ts'],
  'test/support/service-process.ts': ['src/main.ts'],
};

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mutants-')));
const copy = join(folder, 'copy');
let running: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.once('exit', () => {
  end(running);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

git('clone', '--quiet', '--shared', '.', copy);
symlinkSync(realpathSync('node_modules'), join(copy, 'node_modules'));
const importers = readImporters();
const doesNotCompile = 'it does not compile';
/** In seconds. Tests that fail without a mistake, or that `npm test` leaves out, are not used. */
const durations = new Map<string, number | undefined>();
const until = Date.now() + Number(given.minutes) * 60_000;
const survivors: string[] = [];
let tried = 0;

for (const { file, mistake } of inRandomOrder(sources().flatMap(candidatesIn))) {
  if (Date.now() > until) break;
  const killer = await killerOf(file, mistake);
  if (killer === doesNotCompile) continue;
  const text = `${file}:${mistake.line}  ${mistake.before} → ${mistake.after}`;
  tried += 1;
  if (killer === undefined) survivors.push(text);
  process.stdout.write(`${killer === undefined ? 'SURVIVED' : 'killed  '} ${text}  ${killer ?? ''}\n`);
}

const killed = tried - survivors.length;
const summary = `${killed} of ${tried} mutants were killed (seed ${given.seed}).`;
process.stdout.write(`${[...survivors, summary].join('\n')}\n`);
if (given.report !== undefined)
  writeFileSync(given.report, [summary, ...survivors.map((each) => `- \`${each}\``), ''].join('\n'));
const leastKilled = Math.ceil(tried * (1 - mostSurvivors));
if (given.evidence) writeEvidence();
process.exitCode = killed < leastKilled ? 1 : 0;

interface Candidate {
  readonly file: string;
  readonly mistake: Mistake;
}

function writeEvidence(): void {
  const file = 'docs/evidence.md';
  const how = `\`npm run mutants\` makes random mistakes in src/, one at a time, and runs the nearest tests.`;
  const verdict = killed < leastKilled ? ', MISSED' : '';
  const result = `On ${new Date().toISOString().slice(0, 10)}, they noticed ${killed} of ${tried} (≥ ${leastKilled}${verdict}).`;
  writeFileSync(file, withText(readFileSync(file, 'utf8'), 'mutants', `## Mutants\n\n${how} ${result}`));
}

function git(...args: readonly string[]): readonly string[] {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\n')
    .filter(Boolean);
}

function sources(): readonly string[] {
  const those = ['--', ...(places.length === 0 ? ['src'] : places)];
  const changed = ['diff', '--name-only', '--diff-filter=d', given.since, 'HEAD', ...those];
  const files = git(...(given.since === '' ? ['ls-files', ...those] : changed));
  return files.filter((file) => /^src\/.*\.ts$/.test(file));
}

function candidatesIn(file: string): readonly Candidate[] {
  return mistakesIn(file, readFileSync(join(copy, file), 'utf8')).map((mistake) => ({ file, mistake }));
}

function inRandomOrder(all: readonly Candidate[]): readonly Candidate[] {
  const random = randomOf(Number(given.seed));
  const keyed = all.map((candidate) => ({ candidate, key: random() }));
  return keyed.toSorted((one, other) => one.key - other.key).map(({ candidate }) => candidate);
}

/** The files that import each file, without types. */
function readImporters(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (imported: string, importer: string) => found.set(imported, [...(found.get(imported) ?? []), importer]);
  for (const file of git('ls-files', '--', 'src/*.ts', 'test/*.ts', 'scripts/*.ts')) {
    const code = readFileSync(join(copy, file), 'utf8');
    const { staticImports, staticExports, dynamicImports } = parseSync(file, code).module;
    const values = staticImports.filter(({ entries }) => !entries.length || entries.some(({ isType }) => !isType));
    const requests = [...values, ...staticExports.flatMap(({ entries }) => entries), ...dynamicImports];
    for (const { moduleRequest } of requests) {
      const name = moduleRequest && code.slice(moduleRequest.start + 1, moduleRequest.end - 1);
      if (name?.startsWith('.')) add(join(dirname(file), name), file);
    }
  }
  for (const [starter, entries] of Object.entries(programs)) for (const entry of entries) add(entry, starter);
  return found;
}

/** The tests that can notice a mistake in the file, nearest first: those that import it, and those that start it. */
function testsNear(file: string): readonly (readonly string[])[] {
  const reach = (isStarter: (importer: string) => boolean): readonly string[] => {
    const seen = new Set([file]);
    for (const each of seen) for (const one of importers.get(each) ?? []) if (!isStarter(one)) seen.add(one);
    const tests = [...seen].filter((each) => each.endsWith('.test.ts'));
    return tests.toSorted((one, other) => likeness(other, file) - likeness(one, file));
  };
  const importing = reach((importer) => importer in programs);
  return [importing, reach(() => false).filter((test) => !importing.includes(test))];
}

/** How much the names say that a test is about a file; among equals, the nearest goes first. */
function likeness(test: string, file: string): number {
  const isNamed = basename(test).startsWith(basename(file, '.ts'));
  return Number(isNamed) + Number(dirname(test) === dirname(file).replace(/^src/, 'test'));
}

/** What notices the mistake first. */
async function killerOf(file: string, { text }: Mistake): Promise<string | undefined> {
  const original = readFileSync(join(copy, file), 'utf8');
  for (const [isStarted, candidates] of testsNear(file).entries()) {
    for (let from = 0; from < Math.min(candidates.length, mostTests); from += testsAtOnce) {
      const tests = await affordable(candidates.slice(from, from + testsAtOnce));
      writeFileSync(join(copy, file), text);
      try {
        if (isStarted && (await run(['scripts/bundle.ts'], 120)) !== 0) return doesNotCompile;
        const killer = await firstFailing(tests);
        if (killer !== undefined) return killer;
      } finally {
        writeFileSync(join(copy, file), original);
      }
    }
  }
  return undefined;
}

async function firstFailing(tests: readonly string[]): Promise<string | undefined> {
  if (tests.length === 0) return undefined;
  const results = await vitest([...tests, '--bail', '1'], 60 + 3 * secondsOf(tests));
  const failed = results.find(({ status }) => status !== 'passed');
  if (failed !== undefined) return failed.name;
  return results.length < tests.length ? 'it does not start, or does not end' : undefined;
}

function secondsOf(tests: readonly string[]): number {
  return tests.reduce((sum, test) => sum + (durations.get(test) ?? 0), 0);
}

async function affordable(candidates: readonly string[]): Promise<readonly string[]> {
  const unknown = candidates.filter((test) => !durations.has(test));
  const results = unknown.length === 0 ? [] : await vitest(unknown, 600);
  for (const test of unknown)
    durations.set(test, results.find(({ name, status }) => name === test && status === 'passed')?.seconds);
  const chosen: string[] = [];
  for (const test of candidates) {
    const seconds = durations.get(test);
    if (seconds !== undefined && secondsOf(chosen) + seconds <= secondsAtOnce) chosen.push(test);
  }
  return chosen;
}

interface JsonReport {
  readonly testResults: readonly { name: string; status: string; startTime: number; endTime: number }[];
}

/** The results of the test files; none if the run does not end in time. */
async function vitest(args: readonly string[], seconds: number) {
  const file = join(folder, 'results.json');
  rmSync(file, { force: true });
  const flags = ['--mode', 'short', '--maxWorkers', '2', '--reporter', 'json', '--outputFile', file];
  await run(['node_modules/vitest/vitest.mjs', 'run', ...flags, ...args], seconds);
  if (!existsSync(file)) return [];
  // Written by Vitest.
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as JsonReport;
  return testResults.map(({ name, status, startTime, endTime }) => ({
    ...{ name: relative(copy, name), status, seconds: (endTime - startTime) / 1_000 },
  }));
}

/** Runs a script in the copy, with a limit in seconds for it and all that it starts. */
async function run(args: readonly string[], seconds: number): Promise<number | null> {
  const child = spawn(process.execPath, args, { cwd: copy, detached: true, stdio: 'ignore' });
  running = child.pid;
  const timer = setTimeout(end, seconds * 1_000, child.pid);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  end(child.pid);
  running = undefined;
  return code;
}

/** Ends a process and its children. */
function end(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All have ended.
  }
}
