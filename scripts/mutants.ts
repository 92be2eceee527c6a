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
 * Makes mistakes in the code of the last commit, one at a time, and runs the nearest tests, then all of `npm test` and
 * `npm run test:git`, those of commands and, for the service, `npm run test:postgres`. A mistake that no test notices
 * survives. A failure counts only if the test fails again alone, and passes without the mistake:
 * `npm run mutants -- [--since REVISION] [--seed N] [--minutes N] [--most N] [--report FILE] [FILE|FOLDER …]`.
 * With `--evidence`, the result is written into docs/evidence.md.
 */

const { values: given, positionals: places } = parseArgs({
  options: {
    since: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '15' },
    most: { type: 'string', default: '150' },
    report: { type: 'string' },
    evidence: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const mostSurvivors = 0.09;
/** The time of the nearest tests that run before all others, taken together. */
const nearSeconds = 20;
const bundled = 'test/support/runner/action-file.ts';

const { TEST_DATABASE_URL: databaseUrl, ...onSqlite } = process.env;
const onPostgres = { ...onSqlite, TEST_DATABASE_URL: databaseUrl };

/** Tests that import these start a program whose sources are those. */
const programs: Readonly<Record<string, readonly string[]>> = {
  [bundled]: ['src/action/main.ts', 'src/action/post.ts', 'src/action/renew.ts'],
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
/** Those of the command and the service. The scenarios of the action take too long. */
const endToEnd = testsOf('test:e2e').filter((test) => test !== 'test/e2e');
const seconds = await secondsOfTests([
  ['--mode', 'short'],
  [...testsOf('test:git'), ...endToEnd],
]);
const postgresSeconds = await secondsOfTests([testsOf('test:postgres')], onPostgres);
const until = Date.now() + Number(given.minutes) * 60_000;
const survivors: string[] = [];
let tried = 0;

const queue = [...inRandomOrder(sources().flatMap(candidatesIn))];
for (const candidate of queue) {
  if (Date.now() > until || tried >= Number(given.most)) break;
  const { verdict, killer = '' } = await tryOut(candidate);
  const text = textOf(candidate);
  process.stdout.write(`${verdict.padEnd(16)} ${text}  ${killer}\n`);
  if (verdict === 'unclear') queue.push(candidate);
  if (verdict === 'survived') survivors.push(text);
  if (verdict === 'survived' || verdict === 'killed') tried += 1;
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

interface Result {
  /** Unclear: the test that failed passes alone, or also fails without the mistake. */
  readonly verdict: 'killed' | 'survived' | 'unclear' | 'does not compile';
  readonly killer?: string;
}

function textOf({ file, mistake }: Candidate): string {
  return `${file}:${mistake.line}  ${mistake.before} → ${mistake.after}`;
}

function writeEvidence(): void {
  const file = 'docs/evidence.md';
  const how = `\`npm run mutants\` makes random mistakes in src/, one at a time, and runs \`npm test\`, \`npm run test:git\` and, for the service, \`npm run test:postgres\`.`;
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
function testsNear(file: string) {
  const reach = (isStarter: (importer: string) => boolean): ReadonlySet<string> => {
    const seen = new Set([file]);
    for (const each of seen) for (const one of importers.get(each) ?? []) if (!isStarter(one)) seen.add(one);
    return seen;
  };
  const nearest = (seen: ReadonlySet<string>): readonly string[] =>
    [...seen]
      .filter((each) => seconds.has(each))
      .toSorted((one, other) => likeness(other, file) - likeness(one, file))
      .filter((_, index, all) => sum(all.slice(0, index + 1)) <= nearSeconds);
  const importing = reach((importer) => importer in programs);
  const starting = reach(() => false);
  const isStarted = [...starting].filter((each) => !importing.has(each));
  return { importing: nearest(importing), starting: nearest(new Set(isStarted)), isBundled: starting.has(bundled) };
}

function sum(tests: readonly string[], known = seconds): number {
  return tests.reduce((total, test) => total + (known.get(test) ?? 0), 0);
}

/** How much the names say that a test is about a file; among equals, the nearest goes first. */
function likeness(test: string, file: string): number {
  const isNamed = basename(test).startsWith(basename(file, '.ts'));
  return Number(isNamed) + Number(dirname(test) === dirname(file).replace(/^src/, 'test'));
}

async function tryOut({ file, mistake }: Candidate): Promise<Result> {
  const { importing, starting, isBundled } = testsNear(file);
  let killer: string | undefined;
  let alone: readonly string[] = [];
  let isRepeated = true;
  let on: NodeJS.ProcessEnv = onSqlite;
  try {
    writeFileSync(join(copy, file), mistake.text);
    killer = await firstFailing(importing);
    if (killer === undefined) {
      if (isBundled && (await run(['scripts/bundle.ts'], 120)) !== 0) return { verdict: 'does not compile' };
      killer = (await firstFailing(starting)) ?? (await firstFailing([...seconds.keys()]));
    }
    if (killer === undefined && file.startsWith('src/service/')) {
      on = onPostgres;
      killer = await firstFailing([...postgresSeconds.keys()], on);
    }
    if (killer !== undefined && (seconds.has(killer) || postgresSeconds.has(killer))) alone = [killer];
    isRepeated = alone.length === 0 || (await firstFailing(alone, on)) !== undefined;
  } finally {
    git('-C', copy, 'checkout', '--quiet', '--', file, 'dist');
    // A mistake may have given the bundle other chunks, which the test of its files would find from then on.
    git('-C', copy, 'clean', '--quiet', '--force', '-d', '--', 'dist');
  }
  if (killer === undefined) return { verdict: 'survived' };
  const isCause = isRepeated && (await firstFailing(alone, on)) === undefined;
  return { verdict: isCause ? 'killed' : 'unclear', killer };
}

async function firstFailing(tests: readonly string[], on = onSqlite): Promise<string | undefined> {
  if (tests.length === 0) return undefined;
  const known = on === onPostgres ? postgresSeconds : seconds;
  const results = await vitest([...tests, '--bail', '1'], 60 + 3 * sum(tests, known), on);
  const failed = results.find(({ status }) => status !== 'passed');
  if (failed !== undefined) return failed.name;
  return results.length < tests.length ? 'it does not start, or does not end' : undefined;
}

/** The arguments of Vitest in a script of package.json. */
function testsOf(script: string): readonly string[] {
  const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(readFileSync('package.json', 'utf8'));
  return scripts[script]?.match(/\btest\/\S+/g) ?? [];
}

/** How long each test takes. All must pass without a mistake. */
async function secondsOfTests(
  runs: readonly (readonly string[])[],
  on: NodeJS.ProcessEnv = onSqlite,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const tests of runs) {
    const results = await vitest(tests, 1_800, on);
    const failed = results.filter(({ status }) => status !== 'passed').map(({ name }) => name);
    if (results.length === 0 || failed.length > 0)
      throw new Error(`Without a mistake, tests fail: ${failed.join(', ') || 'they do not start, or do not end'}.`);
    for (const result of results) found.set(result.name, result.seconds);
  }
  return found;
}

interface JsonReport {
  readonly testResults: readonly { name: string; status: string; startTime: number; endTime: number }[];
}

/** The results of the test files; none if the run does not end in time. */
async function vitest(args: readonly string[], seconds: number, on: NodeJS.ProcessEnv) {
  const file = join(folder, 'results.json');
  rmSync(file, { force: true });
  const flags = ['--reporter', 'json', '--outputFile', file];
  await run(['node_modules/vitest/vitest.mjs', 'run', ...flags, ...args], seconds, on);
  if (!existsSync(file)) return [];
  // Written by Vitest.
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as JsonReport;
  return testResults.map(({ name, status, startTime, endTime }) => ({
    ...{ name: relative(copy, name), status, seconds: (endTime - startTime) / 1_000 },
  }));
}

/** Runs a script in the copy, with a limit in seconds for it and all that it starts. */
async function run(args: readonly string[], seconds: number, env = onSqlite): Promise<number | null> {
  const child = spawn(process.execPath, args, { env, cwd: copy, detached: true, stdio: 'ignore' });
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
