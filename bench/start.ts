import { stat } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { startSmallService } from '../test/support/small-service.ts';
import { archiveOf } from './archive.ts';
import { budgets } from './budgets.ts';
import { interleave, type Runs, type Subject } from './runs.ts';
import { type Median, medianOf, middleMean } from './statistics.ts';
import { openSteps } from './step-environment.ts';

/** How long the action takes to start, beside a Node that does nothing, and what there is to load for it. */

const fewestRounds = 20;
const mostRounds = 120;
/** How wide the interval of a median may be, as a part of the median. */
const steady = 0.04;

const dist = join(import.meta.dirname, '../dist');
const main = join(dist, 'index.js');
const post = join(dist, 'post/index.js');

async function measureStart(): Promise<readonly (readonly [Subject, Runs])[]> {
  const service = await startSmallService();
  const steps = await openSteps();
  try {
    const nothing = steps.environment({});
    const request = steps.environment({
      operation: 'list-workspaces',
      'base-url': service.baseUrl,
      token: 'wsa_bench',
    });
    const subjects: readonly Subject[] = [
      { name: 'Node alone: node -e 0', args: ['-e', '0'], environment: nothing, exitCode: 0 },
      { name: 'a wrong input, told', args: [main], environment: nothing, exitCode: 1 },
      { name: 'one request, answered', args: [main], environment: request, exitCode: 0 },
      { name: 'a post-step without work', args: [post], environment: nothing, exitCode: 0 },
    ];
    const isSteady = ({ wallMs }: Runs): boolean => {
      const { median, from, to } = medianOf(wallMs);
      return to - from <= steady * median;
    };
    const runs = await interleave(subjects, (rounds, measured) =>
      rounds < fewestRounds ? false : rounds >= mostRounds || measured.every(isSteady),
    );
    return subjects.flatMap((subject, index) => {
      const its = runs[index];
      return its === undefined ? [] : [[subject, its] as const];
    });
  } finally {
    await steps.end();
    service.stop();
  }
}

let missed = 0;

function verdict(value: number, limit: number | undefined): string {
  if (limit === undefined) return '';
  if (value <= limit) return 'kept';
  missed += 1;
  return 'MISSED';
}

const widths = [34, 20, 7, 10, 8, 15, 7];

function row(...cells: readonly string[]): void {
  const [first = '', ...others] = cells.map((cell, index) =>
    index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0),
  );
  console.log([first, ...others].join('').trimEnd());
}

const interval = ({ median, from, to }: Median): string => `${median.toFixed(1)} (${from.toFixed(1)}–${to.toFixed(1)})`;
const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`;

const measured = await measureStart();
const [, bare] = measured[0] ?? [];
if (bare === undefined) throw new Error('Nothing was measured.');

console.log(
  `Node ${process.version}, ${availableParallelism()} processors, ${bare.wallMs.length} interleaved runs of each.`,
);
console.log(
  'Wall time is the median (and the interval that holds it with 95 % certainty), processor time the mean of the',
);
console.log('half in the middle; × is over the first row, and the limit is one of wall time.\n');

row('Start', 'wall ms', '×', 'limit', '', 'processor ms', '×');
const limits = [undefined, budgets.wrongInputRatio, budgets.oneRequestRatio, undefined];
const bareWall = medianOf(bare.wallMs).median;
const bareCpu = middleMean(bare.cpuMs);
for (const [index, [{ name }, runs]] of measured.entries()) {
  const wall = medianOf(runs.wallMs);
  const cpu = middleMean(runs.cpuMs);
  const ratio = wall.median / bareWall;
  const limit = limits[index];
  const judged = verdict(ratio, limit);
  row(
    name,
    interval(wall),
    ratio.toFixed(2),
    limit?.toFixed(2) ?? '',
    judged,
    cpu.toFixed(1),
    (cpu / bareCpu).toFixed(2),
  );
}

console.log();
row('Size', '', '', 'limit', '');
const sizes: readonly (readonly [string, number, number])[] = [
  ['entry chunk: dist/index.js', (await stat(main)).size, budgets.entryBytes],
  ['download: git archive HEAD | gzip', archiveOf('HEAD').gzippedBytes, budgets.archiveBytes],
];
for (const [name, bytes, limit] of sizes) row(name, kilobytes(bytes), '', kilobytes(limit), verdict(bytes, limit));

const [load = 0] = loadavg();
if (load > availableParallelism()) {
  console.log(`\nThe machine had other work to do (load ${load.toFixed(1)}): measure again when it is quiet.`);
}
process.exitCode = missed === 0 ? 0 : 1;
