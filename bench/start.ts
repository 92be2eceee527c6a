import { join } from 'node:path';
import { startSmallService } from '../test/support/small-service.ts';
import { atMost, type Benchmark, type Detail, type Figure } from './benchmark.ts';
import { budgets } from './budgets.ts';
import { interleave, type Runs, type Subject } from './runs.ts';
import { medianOf, middleMean } from './statistics.ts';
import { openSteps } from './step-environment.ts';

const rounds = { full: { fewest: 20, most: 120 }, quick: { fewest: 2, most: 2 } };
/** How wide the interval of a median may be, as a part of the median. */
const steady = 0.04;

const dist = join(import.meta.dirname, '../dist');
const main = join(dist, 'index.js');
const post = join(dist, 'post/index.js');

const isSteady = ({ wallMs }: Runs): boolean => {
  const { median, from, to } = medianOf(wallMs);
  return to - from <= steady * median;
};

const bare = 'Node alone: node -e 0';
const limits: ReadonlyMap<string, number> = new Map([
  ['a wrong input, told', budgets.wrongInputRatio],
  ['one request, answered', budgets.oneRequestRatio],
]);

const roundsOf = (name: string, values: readonly number[]): Detail => ({ kind: 'rounds', name, unit: 'ms', values });

interface Subjected {
  readonly subject: Subject;
  readonly runs: Runs;
}

/** A few rounds are judged by nobody: a single one that was slow would decide. */
function figuresOf(measured: readonly Subjected[], quick: boolean): readonly Figure[] {
  const base = measured.find(({ subject }) => subject.name === bare);
  if (base === undefined) return [];
  const wallOf = ({ wallMs }: Runs): number => medianOf(wallMs).median;
  return measured.flatMap(({ subject: { name }, runs }): readonly Figure[] => {
    const wall: Figure = {
      name: `${name}: wall time`,
      value: wallOf(runs),
      unit: 'ms',
      details: [roundsOf('wall time', runs.wallMs), roundsOf('processor time', runs.cpuMs)],
    };
    if (name === bare) return [wall];
    const limit = quick ? undefined : limits.get(name);
    return [
      wall,
      {
        name: `${name}: wall time over Node alone`,
        value: wallOf(runs) / wallOf(base.runs),
        unit: '×',
        limit: limit === undefined ? undefined : atMost(limit, 'design §6'),
      },
      {
        // The mean of the half in the middle: this clock has coarse steps.
        name: `${name}: processor time over Node alone`,
        value: middleMean(runs.cpuMs) / middleMean(base.runs.cpuMs),
        unit: '×',
      },
    ];
  });
}

export const start: Benchmark = {
  name: 'start',
  what: 'How long the action takes to start, beside a Node that does nothing.',
  async measure({ quick, signal, progress, atEnd }) {
    const service = await startSmallService();
    atEnd(() => service.stop());
    const steps = await openSteps();
    atEnd(() => steps.end());
    const nothing = steps.environment({});
    const request = steps.environment({
      operation: 'list-workspaces',
      'base-url': service.baseUrl,
      token: 'wsa_bench',
    });
    const subjects: readonly Subject[] = [
      { name: bare, args: ['-e', '0'], environment: nothing, exitCode: 0 },
      { name: 'a wrong input, told', args: [main], environment: nothing, exitCode: 1 },
      { name: 'one request, answered', args: [main], environment: request, exitCode: 0 },
      { name: 'a post-step without work', args: [post], environment: nothing, exitCode: 0 },
    ];
    const { fewest, most } = quick ? rounds.quick : rounds.full;
    const runs = await interleave(subjects, (done, measured) => {
      signal.throwIfAborted();
      if (done > 0 && done % 10 === 0) progress(`${done} rounds of at most ${most}`);
      return done >= fewest && (done >= most || measured.every(isSteady));
    });
    return {
      figures: figuresOf(
        subjects.flatMap((subject, index) => {
          const its = runs[index];
          return its === undefined ? [] : [{ subject, runs: its }];
        }),
        quick,
      ),
    };
  },
};
