import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDuration } from '../../src/interface/duration.ts';
import { createProgress, runCommand } from '../command.ts';
import { readResults } from '../results.ts';
import { markdownTable, withText } from '../table.ts';
import { usualWorkload as usual } from './workload.ts';

/** Each with its default and what it stands for. */
const values = {
  jobs: ['N', usual.jobs, 'at the same time'],
  seed: ['N', 1, 'the same seed gives the same figures'],
  minutes: ['N', 10, 'simulated, after the time that it takes until nothing is new any more'],
  database: ['NAME', 'sqlite', 'sqlite or postgresql'],
  instances: ['N', usual.instances, 'of the service'],
  tokens: ['N', usual.tokens, 'that the jobs share'],
  paths: ['N', usual.paths, 'that there are'],
  zipf: ['X', usual.zipf, 'how unevenly they are wanted, from 0'],
  hold: ['DURATION', `${usual.holdSeconds}s`, 'half of the jobs hold their locks for longer'],
  work: ['DURATION', `${usual.workSeconds}s`, 'that a job works without a lock, on average'],
  wait: ['DURATION', `${usual.waitSeconds}s`, 'of the lock step'],
  ttl: ['DURATION', `${usual.ttlSeconds}s`, 'of the lock step'],
  vanish: ['X', usual.vanish, 'the part of the jobs that ends without a post-step'],
  list: ['X', usual.list, 'the part of the jobs that reads the list of all locks first'],
  results: ['FILE', 'bench/results.json', 'what npm run bench has measured'],
} as const;
type Name = keyof typeof values;
// Neither Object.keys() nor Object.fromEntries() knows what the keys are.
const names = Object.keys(values) as Name[];

const usage = `Usage: npm run simulate [-- --jobs N --seed N --json --write …]

Simulates jobs that lock paths, with the action's own code for waiting, against a service that takes as long as
bench/results.json says, and tells how long they wait, what the service does meanwhile and what breaks first.
First run: npm run bench -- service polls

${names.map((name) => `  ${`--${name} ${values[name][0]}`.padEnd(20)}${values[name][2]} (${values[name][1]})`).join('\n')}
  --alone             only that: nothing with more or fewer jobs, or with another service
  --json              prints everything as JSON, and no table
  --write             writes the tables into docs/scaling.md as well
  -h, --help          shows this help

It ends with 0, with 1 when the service was not measured, and with 2 when it was called wrongly.
`;

const flag = { type: 'boolean', default: false } as const;
const options = {
  ...(Object.fromEntries(names.map((name) => [name, { type: 'string' }])) as Record<Name, { readonly type: 'string' }>),
  alone: flag,
  json: flag,
  write: flag,
} as const;

const databases = new Map([
  ['sqlite', 'SQLite'],
  ['postgresql', 'PostgreSQL'],
] as const);

/** Throws a sentence about what is wrong with them. */
export function readArguments(args: readonly string[]) {
  const { values: given } = parseArgs({ args: [...args], options });
  const textOf = (name: Name): string => String(given[name] ?? values[name][1]);

  function refuse(name: Name, wanted: string): never {
    throw new TypeError(`--${name} is ${wanted}, and not ${JSON.stringify(textOf(name))}.`);
  }
  function number(name: Name, pattern: RegExp, [min, max]: readonly [number, number], wanted: string): number {
    const value = pattern.test(textOf(name)) ? Number(textOf(name)) : Number.NaN;
    return value >= min && value <= max ? value : refuse(name, `${wanted} from ${min} to ${max}`);
  }
  const whole = (name: Name, max = 10_000_000): number => number(name, /^\d+$/, [1, max], 'a whole number');
  const between = (name: Name, max: number): number => number(name, /^\d+(\.\d+)?$/, [0, max], 'a number');
  function seconds(name: Name): number {
    const parsed = parseDuration(textOf(name));
    return parsed.ok && parsed.value.seconds > 0 ? parsed.value.seconds : refuse(name, 'a duration such as 90s or 15m');
  }

  const workload = {
    ...usual,
    jobs: whole('jobs'),
    instances: whole('instances', 1_000),
    tokens: whole('tokens'),
    paths: whole('paths'),
    zipf: between('zipf', 5),
    holdSeconds: seconds('hold'),
    workSeconds: seconds('work'),
    waitSeconds: seconds('wait'),
    ttlSeconds: seconds('ttl'),
    vanish: between('vanish', 1),
    list: between('list', 1),
  };
  const [, database] =
    [...databases].find(([name]) => name === textOf('database')) ?? refuse('database', 'sqlite or postgresql');
  if (database === 'SQLite' && workload.instances > 1) {
    throw new TypeError('On SQLite there is one instance: --instances goes with --database postgresql.');
  }
  const { alone, json, write } = given;
  if (write && alone) throw new TypeError('--write needs all tables, and --alone leaves some out.');
  const request = { workload, database, seed: whole('seed'), minutes: whole('minutes'), alone };
  return { request, results: resolve(given.results ?? join(import.meta.dirname, '../results.json')), json, write };
}

const page = join(import.meta.dirname, '../../docs/scaling.md');

async function run({ request, results: file, json, write }: ReturnType<typeof readArguments>): Promise<number> {
  const read = await readResults(file);
  if (read.kind === 'missing') {
    process.stderr.write(`${read.sentence}\n`);
    return 1;
  }
  // Whoever asks for help does not wait for all of the action to be loaded.
  const { study } = await import('./study.ts');
  const { asText, isNumber, tablesOf } = await import('./tables.ts');
  // Nobody looks at where an error was made, and to find it out takes longer than all the rest of a request.
  Error.stackTraceLimit = 0;
  const made = await study(request, read.results, createProgress());
  if (made === undefined) {
    process.stderr.write(
      `${file} does not tell how long the service takes on ${request.database}. Run npm run bench -- service polls.\n`,
    );
    return 1;
  }
  const tables = tablesOf(made);
  if (write) {
    let text = await readFile(page, 'utf8');
    for (const table of tables) text = withText(text, `simulate ${table.name}`, markdownTable({ ...table, isNumber }));
    await writeFile(page, text);
  }
  process.stdout.write(json ? `${JSON.stringify(made, undefined, 2)}\n` : `\n${tables.map(asText).join('\n')}`);
  return 0;
}

if (import.meta.main) process.exitCode = await runCommand(process.argv.slice(2), usage, readArguments, run);
