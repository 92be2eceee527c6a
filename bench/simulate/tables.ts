import { busyText, type MarkdownTable, machineText, numberText, rowText, widthsOf } from '../table.ts';
import type { Kind } from './calibration.ts';
import type { Outcome } from './simulation.ts';
import type { Study } from './study.ts';

/** What a study says, as tables: for the terminal, and for docs/scaling.md. */
export interface Table extends MarkdownTable {
  /** Its place in the page. */
  readonly name: string;
  readonly title: string;
}

export const isNumber = (column: number): boolean => column > 0;

const percent = (share: number): string => `${numberText(share * 100)} %`;

/** A span of time as it matters to who waits. */
function seconds(value: number): string {
  if (value < 1) return `${numberText(value * 1_000)} ms`;
  return value < 120 ? `${numberText(value)} s` : `${numberText(value / 60)} min`;
}

const milliseconds = (value: number): string => `${numberText(value)} ms`;
const perSecond = (value: number): string => `${numberText(value)} /s`;
const ofAll = (part: number, whole: number): string => `${numberText(part)} (${percent(part / Math.max(1, whole))})`;
const busy = ({ threadBusy, writerBusy }: Outcome): string => percent(Math.max(threadBusy, writerBusy));
const ofEnded = (part: number, { ended }: Outcome): string => percent(part / Math.max(1, ended));

const nameOfKind: Readonly<Record<Kind, string>> = {
  nothing: 'the route without a database',
  poll: 'a path that somebody holds, refused',
  take: 'a path taken, on disk',
};

type Databases = Study['measured']['databases'];

/** What was measured and predicted, without what is the same on every database but for the first. */
const loadsOf = ({ database, predictions }: Databases[number], index: number) =>
  predictions
    .filter(({ kind }) => index === 0 || kind !== 'nothing')
    .map((load) => ({
      ...load,
      head: [load.kind === 'nothing' ? 'none' : database, nameOfKind[load.kind], numberText(load.clients)],
    }));

function measuredTable({ measured }: Study): Table {
  const { date, machine, quick, databases } = measured;
  const notes = [
    `Measured on ${date.slice(0, 10)}, with the rate limit off: all clients had one token. ${machineText(measured)}`,
    busyText(measured),
    quick ? `The run was a quick one on ${machine.processor}, and its figures mean little.` : undefined,
  ];
  return {
    name: 'measured',
    title: 'What the service does',
    head: ['Database', 'What', 'Clients', 'Answers', 'Half of them within', '99 % within'],
    rows: databases.flatMap((one, index) => {
      const { ms, locks, bytes } = one.measurements.page;
      const page = `a page of ${numberText(locks)} locks, ${numberText(bytes / 1_000)} KB`;
      return [
        ...loadsOf(one, index).map((load) => [
          ...load.head,
          perSecond(load.perSecond),
          milliseconds(load.p50Ms),
          milliseconds(load.p99Ms),
        ]),
        [one.database, page, '1', '', milliseconds(ms), ''],
      ];
    }),
    notes: notes.filter((note) => note !== undefined),
  };
}

const modelTable = ({ measured }: Study): Table => ({
  name: 'model',
  title: 'The simulated service under the loads that the real one was measured with',
  head: ['Database', 'What', 'Clients', 'Simulated', 'Measured', 'Half within, simulated', 'measured'],
  rows: measured.databases
    .flatMap(loadsOf)
    .map(({ head, predicted, ...real }) => [
      ...head,
      perSecond(predicted.perSecond),
      perSecond(real.perSecond),
      milliseconds(predicted.p50Ms),
      milliseconds(real.p50Ms),
    ]),
  notes: ['The model is made of the rows with the fewest and the most clients; those in between it has to predict.'],
});

function workloadTable({ request }: Study): Table {
  const { workload, minutes, seed, database } = request;
  const { rateLimit } = workload;
  return {
    name: 'workload',
    title: 'What the jobs do',
    head: ['', ''],
    rows: [
      ['Jobs at the same time', numberText(workload.jobs)],
      ['Paths; the one at place n is wanted in proportion to', `${numberText(workload.paths)}; n^-${workload.zipf}`],
      ['Paths of a job', '1 for 60 % of the jobs, 2 to 5 for 30 %, 6 to 20 for 10 %'],
      ['A job works without a lock, on average', seconds(workload.workSeconds)],
      ['A job holds its locks: median; σ of the logarithm', `${seconds(workload.holdSeconds)}; ${workload.holdSigma}`],
      ['`wait` and `ttl`', `${seconds(workload.waitSeconds)}, ${seconds(workload.ttlSeconds)}`],
      ['Jobs that end without a post-step', percent(workload.vanish)],
      ['Jobs that read the list of all locks first', percent(workload.list)],
      ['API tokens', numberText(workload.tokens)],
      [
        'Requests that each of them may send',
        rateLimit === null ? 'any number' : `${rateLimit.perSecond} /s, bursts of ${numberText(rateLimit.burst)}`,
      ],
      ['Service', `${database}, ${workload.instances === 1 ? 'one instance' : `${workload.instances} instances`}`],
      ['Simulated time that counts; seed', `${seconds(minutes * 60)}; ${seed}`],
    ],
    notes: [],
  };
}

function waitsTable({ outcome: { waits, fairness, ended, gaveUp, failed } }: Study): Table {
  return {
    name: 'waits',
    title: 'How long jobs wait, by the path of theirs that is wanted most',
    head: ['Path is one of', 'Jobs', 'Half within', '95 % within', '99 % within', 'The longest', 'Gave up'],
    rows: waits.map(({ name, steps, gaveUp, p50Seconds, p95Seconds, p99Seconds, maxSeconds }) => [
      name,
      numberText(steps),
      ...[p50Seconds, p95Seconds, p99Seconds, maxSeconds].map(seconds),
      ofAll(gaveUp, steps),
    ]),
    notes: [
      `Of ${numberText(ended)} jobs ${ofAll(gaveUp, ended)} gave up at the end of their wait, and ${numberText(failed)} failed otherwise.`,
      `Of those that had to wait and got their paths, half waited for less than ${seconds(fairness.medianSeconds)}, and the longest for ${seconds(fairness.maxSeconds)}. ${percent(fairness.overtaking)} of them were served before somebody who had waited for the same path for longer.`,
    ],
  };
}

const hottestTable = ({ outcome }: Study): Table => ({
  name: 'hottest',
  title: 'The paths that are wanted most',
  head: ['Place', 'Jobs that wanted it', 'Got it', 'Gave up or failed', 'Part of the time in which a job had it'],
  rows: outcome.hottest.map(({ place, wanted, acquired, gaveUp, held }) => [
    ...[place + 1, wanted, acquired, gaveUp].map(numberText),
    percent(held),
  ]),
  notes: [
    'A job that vanished holds its paths until their `ttl`; that time is not counted here, and nobody else gets the path in it.',
  ],
});

type Column = readonly [head: string, text: (outcome: Outcome) => string];

const requests: Column = ['Requests', (outcome) => perSecond(outcome.requestsPerSecond)];
const pollsColumn: Column = ['Polls', (outcome) => percent(outcome.pollsShare)];
const work: Column = ['Service at work', busy];
const answers: Column = ['Answers, 99 % within', (outcome) => milliseconds(outcome.answerMs.p99)];
const gaveUpColumn: Column = ['Gave up', (outcome) => ofEnded(outcome.gaveUp, outcome)];
const connections: Column = ['Connections', (outcome) => numberText(outcome.connections)];

const sweepColumns: readonly Column[] = [
  ['Jobs', (outcome) => numberText(outcome.jobs)],
  requests,
  pollsColumn,
  work,
  ['Changes a commit', (outcome) => numberText(outcome.changesPerCommit)],
  answers,
  gaveUpColumn,
  ['Refused, had all one token', (outcome) => percent(outcome.oneTokenRefusedShare)],
  connections,
  ['Lists', (outcome) => `${numberText(outcome.listedBytesPerSecond / 1e6)} MB/s`],
];

const variantColumns: readonly Column[] = [
  requests,
  pollsColumn,
  ['Refused with 429', (outcome) => percent(outcome.rateLimitedShare)],
  work,
  answers,
  ['Mean wait', (outcome) => seconds(outcome.meanWaitSeconds)],
  gaveUpColumn,
  ['Failed', (outcome) => ofEnded(outcome.failed, outcome)],
  connections,
];

const headsOf = (columns: readonly Column[]) => columns.map(([head]) => head);
const cellsOf = (columns: readonly Column[], outcome: Outcome) => columns.map(([, text]) => text(outcome));

const sweepTable = ({ sweep }: Study): Table => ({
  name: 'sweep',
  title: 'As the number of jobs rises',
  head: headsOf(sweepColumns),
  rows: sweep.map((outcome) => cellsOf(sweepColumns, outcome)),
  notes: ['With more jobs than a service can serve, nothing more is simulated.'],
});

const breaksTable = ({ breaks, sweep }: Study): Table => ({
  name: 'breaks',
  title: 'What breaks first',
  head: ['What', 'Reached when', 'With so many jobs'],
  rows: breaks.map(({ limit: { name, reachedWhen }, jobs, used }) => {
    const most = numberText(sweep.at(-1)?.jobs ?? 0);
    return [
      name,
      reachedWhen,
      jobs === undefined ? `not with ${most}: ${percent(used)} of it is used` : numberText(jobs),
    ];
  }),
  notes: [],
});

const variantsTable = ({ variants, request }: Study): Table => ({
  name: 'variants',
  title: `${numberText(request.workload.jobs)} jobs, otherwise`,
  head: ['', ...headsOf(variantColumns)],
  rows: variants.map(({ name, outcome }) => [name, ...cellsOf(variantColumns, outcome)]),
  notes: [],
});

/** Those that need more than one number of jobs are left out when there was one. */
export function tablesOf(study: Study): readonly Table[] {
  const always = [measuredTable, modelTable, workloadTable, waitsTable, hottestTable, sweepTable];
  return [...always, ...(study.request.alone ? [] : [breaksTable, variantsTable])].map((make) => make(study));
}

export function asText({ title, head, rows, notes }: Table): string {
  const all = head.join('') === '' ? rows : [head, ...rows];
  const widths = widthsOf(all);
  return [title, ...all.map((row) => rowText(row, widths, isNumber)), ...notes.map((note) => `  ${note}`), ''].join(
    '\n',
  );
}
