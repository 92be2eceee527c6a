import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDuration } from '../../src/interface/duration.ts';
import type { StudyRequest } from './study.ts';
import { usualWorkload } from './workload.ts';

/** What the command line asks for. */
export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly sentence: string }
  | {
      readonly kind: 'run';
      readonly study: StudyRequest;
      readonly results: string;
      readonly json: boolean;
      readonly write: boolean;
    };

const usualMinutes = 10;

export const usage = `Usage: npm run simulate [-- --jobs N --seed N --json --write …]

Simulates jobs that lock paths, with the action's own code for waiting, against a service that takes as long as
bench/results.json says, and tells how long they wait, what the service does meanwhile and what breaks first.
First run: npm run bench -- service polls

  --jobs N            at the same time (${usualWorkload.jobs})
  --seed N            the same seed gives the same figures (1)
  --minutes N         simulated, after the time that it takes until nothing is new any more (${usualMinutes})
  --database NAME     sqlite or postgresql (sqlite)
  --instances N       of the service (${usualWorkload.instances})
  --tokens N          that the jobs share (${usualWorkload.tokens})
  --paths N           that there are (${usualWorkload.paths})
  --zipf X            how unevenly they are wanted, from 0 (${usualWorkload.zipf})
  --hold DURATION     half of the jobs hold their locks for longer (${usualWorkload.holdSeconds}s)
  --work DURATION     that a job works without a lock, on average (${usualWorkload.workSeconds}s)
  --wait DURATION     of the lock step (${usualWorkload.waitSeconds}s)
  --ttl DURATION      of the lock step (${usualWorkload.ttlSeconds}s)
  --vanish X          the part of the jobs that ends without a post-step (${usualWorkload.vanish})
  --list X            the part of the jobs that reads the list of all locks first (${usualWorkload.list})
  --alone             only that: nothing with more or fewer jobs, or with another service
  --results FILE      what npm run bench has measured (bench/results.json)
  --json              prints everything as JSON, and no table
  --write             writes the tables into docs/scaling.md as well
  -h, --help          shows this help

It ends with 0, with 1 when the service was not measured, and with 2 when it was called wrongly.
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const options = {
  jobs: text,
  seed: text,
  minutes: text,
  database: text,
  instances: text,
  tokens: text,
  paths: text,
  zipf: text,
  hold: text,
  work: text,
  wait: text,
  ttl: text,
  vanish: text,
  list: text,
  results: text,
  alone: flag,
  json: flag,
  write: flag,
} as const;

/** A sentence for whoever has called the command. */
class Mistake extends Error {}

function whole(name: string, given: string | undefined, usual: number, most = 10_000_000): number {
  if (given === undefined) return usual;
  const value = /^\d+$/.test(given) ? Number(given) : 0;
  if (value >= 1 && value <= most) return value;
  throw new Mistake(`--${name} is a whole number from 1 to ${most}, and not ${JSON.stringify(given)}.`);
}

function between(name: string, given: string | undefined, usual: number, most: number): number {
  if (given === undefined) return usual;
  const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (value >= 0 && value <= most) return value;
  throw new Mistake(`--${name} is a number from 0 to ${most}, and not ${JSON.stringify(given)}.`);
}

function secondsOf(name: string, given: string | undefined, usual: number): number {
  if (given === undefined) return usual;
  const parsed = parseDuration(given);
  if (parsed.ok && parsed.value.seconds > 0) return parsed.value.seconds;
  throw new Mistake(`--${name} is a duration such as 90s or 15m, and not ${JSON.stringify(given)}.`);
}

function databaseOf(given = 'sqlite'): StudyRequest['database'] {
  switch (given) {
    case 'sqlite':
      return 'SQLite';
    case 'postgresql':
      return 'PostgreSQL';
    default:
      throw new Mistake(`--database is sqlite or postgresql, and not ${JSON.stringify(given)}.`);
  }
}

function read(args: readonly string[]): Request {
  const { values } = parseArgs({ args: [...args], options });
  const workload = {
    ...usualWorkload,
    jobs: whole('jobs', values.jobs, usualWorkload.jobs),
    instances: whole('instances', values.instances, usualWorkload.instances, 1_000),
    tokens: whole('tokens', values.tokens, usualWorkload.tokens),
    paths: whole('paths', values.paths, usualWorkload.paths),
    zipf: between('zipf', values.zipf, usualWorkload.zipf, 5),
    holdSeconds: secondsOf('hold', values.hold, usualWorkload.holdSeconds),
    workSeconds: secondsOf('work', values.work, usualWorkload.workSeconds),
    waitSeconds: secondsOf('wait', values.wait, usualWorkload.waitSeconds),
    ttlSeconds: secondsOf('ttl', values.ttl, usualWorkload.ttlSeconds),
    vanish: between('vanish', values.vanish, usualWorkload.vanish, 1),
    list: between('list', values.list, usualWorkload.list, 1),
  };
  const database = databaseOf(values.database);
  if (database === 'SQLite' && workload.instances > 1) {
    throw new Mistake('On SQLite there is one instance: --instances goes with --database postgresql.');
  }
  if (values.write && values.alone) throw new Mistake('--write needs all tables, and --alone leaves some out.');
  return {
    kind: 'run',
    study: {
      workload,
      database,
      seed: whole('seed', values.seed, 1),
      minutes: whole('minutes', values.minutes, usualMinutes),
      alone: values.alone,
    },
    results: values.results === undefined ? join(import.meta.dirname, '../results.json') : resolve(values.results),
    json: values.json,
    write: values.write,
  };
}

export function readArguments(args: readonly string[]): Request {
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help' };
  try {
    return read(args);
  } catch (error) {
    if (error instanceof Mistake) return { kind: 'mistake', sentence: `${error.message} --help says more.` };
    if (!(error instanceof TypeError)) throw error;
    // Node's further sentences are about names that begin with a dash, and none does.
    const [sentence = ''] = error.message.split(/\.\s/);
    return { kind: 'mistake', sentence: `${sentence.replace(/\.?$/, '.')} --help says more.` };
  }
}
