import { busyText, machineText, numberText, type Table as PlainTable, withUnit } from '../table.ts';
import type { Kind, Prediction } from './calibration.ts';
import type { Outcome } from './simulation.ts';
import type { Study } from './study.ts';

/** What a study says, as tables: for the terminal, and for docs/scaling.md. */
export interface Table extends PlainTable {
  /** Its place in the page. */
  readonly name: string;
  readonly title: string;
}

const percent = (share: number): string => `${numberText(share * 100)} %`;

/** A span of time as it matters to who waits. */
function seconds(value: number): string {
  if (value < 1) return `${numberText(value * 1_000)} ms`;
  return value < 120 ? `${numberText(value)} s` : `${numberText(value / 60)} min`;
}

/** Empty where nothing was measured. */
const milliseconds = (value?: number): string => (value === undefined ? '' : withUnit(value, 'ms'));
const perSecond = (value?: number): string => (value === undefined ? '' : withUnit(value, '/s'));
const ofAll = (part: number, whole: number): string => `${numberText(part)} (${percent(part / Math.max(1, whole))})`;

type Column<Row> = readonly [head: string, text: (row: Row) => string];

const tableOf = <Row>(
  [name, title]: readonly [name: string, title: string],
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  notes: readonly (string | undefined)[] = [],
): Table => ({
  ...{ name, title, isNumber: (column) => column > 0 },
  head: columns.map(([head]) => head),
  rows: rows.map((row) => columns.map(([, text]) => text(row))),
  notes: notes.filter((note) => note !== undefined),
});

const kindNames: Readonly<Record<Kind, string>> = {
  nothing: 'the route without a database',
  poll: 'a path that somebody holds, refused',
  take: 'a path taken, on disk',
};

type LoadRow = Partial<Prediction> & { readonly database: string; readonly what: string };

/** What was measured and predicted. The route without a database is the same on all of them. */
const loadsOf = ({ database, predictions }: Study['measured']['databases'][number], index: number): LoadRow[] =>
  predictions
    .filter(({ kind }) => index === 0 || kind !== 'nothing')
    .map((load) => ({
      ...{ ...load, what: kindNames[load.kind] },
      database: load.kind === 'nothing' ? 'none' : database,
    }));

const loadColumns: readonly Column<LoadRow>[] = [
  ['Database', ({ database }) => database],
  ['What', ({ what }) => what],
  ['Clients', ({ clients = 1 }) => numberText(clients)],
];

function measuredTable({ measured }: Study): Table {
  const { date, machine, quick, databases } = measured;
  const rows = databases.flatMap((one, index): readonly LoadRow[] => {
    const { ms, locks, bytes } = one.measurements.page;
    const what = `a page of ${numberText(locks)} locks, ${numberText(bytes / 1_000)} KB`;
    return [...loadsOf(one, index), { database: one.database, what, p50Ms: ms }];
  });
  const columns: readonly Column<LoadRow>[] = [
    ...loadColumns,
    ['Answers', (load) => perSecond(load.perSecond)],
    ['Half of them within', ({ p50Ms }) => milliseconds(p50Ms)],
    ['99 % within', ({ p99Ms }) => milliseconds(p99Ms)],
  ];
  return tableOf(['measured', 'What the service does'], columns, rows, [
    `Measured on ${date.slice(0, 10)}, with the rate limit off: all clients had one token. ${machineText(measured)}`,
    busyText(measured),
    quick ? `The run was a quick one on ${machine.processor}, and its figures mean little.` : undefined,
  ]);
}

const modelTable = ({ measured }: Study): Table =>
  tableOf(
    ['model', 'The simulated service under the loads that the real one was measured with'],
    [
      ...loadColumns,
      ['Simulated', ({ predicted }) => perSecond(predicted?.perSecond)],
      ['Measured', (load) => perSecond(load.perSecond)],
      ['Half within, simulated', ({ predicted }) => milliseconds(predicted?.p50Ms)],
      ['measured', ({ p50Ms }) => milliseconds(p50Ms)],
    ],
    measured.databases.flatMap(loadsOf),
    ['The model is made of the rows with the fewest and the most clients; those in between it has to predict.'],
  );

function workloadTable({ request }: Study): Table {
  const { workload, minutes, seed } = request;
  const { jobs, paths, zipf, workSeconds, holdSeconds, holdSigma, waitSeconds, ttlSeconds, rateLimit } = workload;
  const limit = rateLimit && `${rateLimit.perSecond} /s, bursts of ${numberText(rateLimit.burst)}`;
  const rows = [
    ['Jobs at the same time', numberText(jobs)],
    ['Paths; the one at place n is wanted in proportion to', `${numberText(paths)}; n^-${zipf}`],
    ['Paths of a job', '1 for 60 % of the jobs, 2 to 5 for 30 %, 6 to 20 for 10 %'],
    ['A job works without a lock, on average', seconds(workSeconds)],
    ['A job holds its locks: median; σ of the logarithm', `${seconds(holdSeconds)}; ${holdSigma}`],
    ['`wait` and `ttl`', `${seconds(waitSeconds)}, ${seconds(ttlSeconds)}`],
    ['Jobs that end without a post-step', percent(workload.vanish)],
    ['Jobs that read the list of all locks first', percent(workload.list)],
    ['API tokens', numberText(workload.tokens)],
    ['Requests that each of them may send', limit ?? 'any number'],
    ['Service', 'SQLite, one instance'],
    ['Simulated time that counts; seed', `${seconds(minutes * 60)}; ${seed}`],
  ];
  return { name: 'workload', title: 'What the jobs do', head: ['', ''], rows, notes: [] };
}

const withinColumn = (head: string, index: number): Column<Outcome['waits'][number]> => [
  head,
  ({ within }) => seconds(within[index] ?? 0),
];

const waitsTable = ({ outcome: { waits, fairness, ended, gaveUp, failed } }: Study): Table =>
  tableOf(
    ['waits', 'How long jobs wait, by the path of theirs that is wanted most'],
    [
      ['Path is one of', ({ name }) => name],
      ['Jobs', ({ steps }) => numberText(steps)],
      ...['Half within', '95 % within', '99 % within', 'The longest'].map(withinColumn),
      ['Gave up', ({ steps, gaveUp }) => ofAll(gaveUp, steps)],
    ],
    waits,
    [
      `Of ${numberText(ended)} jobs ${ofAll(gaveUp, ended)} gave up at the end of their wait, and ${numberText(failed)} failed otherwise.`,
      `Of those that had to wait and got their paths, half waited for less than ${seconds(fairness.medianSeconds)}, and the longest for ${seconds(fairness.maxSeconds)}. ${percent(fairness.overtaking)} of them were served before somebody who had waited for the same path for longer.`,
    ],
  );

const hottestTable = ({ outcome }: Study): Table =>
  tableOf(
    ['hottest', 'The paths that are wanted most'],
    [
      ['Place', ({ place }) => numberText(place + 1)],
      ['Jobs that wanted it', ({ wanted }) => numberText(wanted)],
      ['Got it', ({ acquired }) => numberText(acquired)],
      ['Gave up or failed', ({ gaveUp }) => numberText(gaveUp)],
      ['Part of the time in which a job had it', ({ held }) => percent(held)],
    ],
    outcome.hottest,
    [
      'A job that vanished holds its paths until their `ttl`; that time is not counted here, and nobody else gets the path in it.',
    ],
  );

const partOfEnded = (part: number, { ended }: Outcome): string => percent(part / Math.max(1, ended));

const outcomeTexts = {
  Jobs: ({ jobs }: Outcome) => numberText(jobs),
  Requests: ({ requestsPerSecond }: Outcome) => perSecond(requestsPerSecond),
  Polls: ({ pollsShare }: Outcome) => percent(pollsShare),
  'Refused with 429': ({ rateLimitedShare }: Outcome) => percent(rateLimitedShare),
  'Service at work': ({ threadBusy, writerBusy }: Outcome) => percent(Math.max(threadBusy, writerBusy)),
  'Changes a commit': ({ changesPerCommit }: Outcome) => numberText(changesPerCommit),
  'Answers, 99 % within': ({ answersP99Ms }: Outcome) => milliseconds(answersP99Ms),
  'Mean wait': ({ meanWaitSeconds }: Outcome) => seconds(meanWaitSeconds),
  'Gave up': (outcome: Outcome) => partOfEnded(outcome.gaveUp, outcome),
  Failed: (outcome: Outcome) => partOfEnded(outcome.failed, outcome),
  'Refused, had all one token': ({ oneTokenRefusedShare }: Outcome) => percent(oneTokenRefusedShare),
  Connections: (outcome: Outcome) => numberText(outcome.connections),
  Lists: ({ listedBytesPerSecond }: Outcome) => `${numberText(listedBytesPerSecond / 1e6)} MB/s`,
};

const outcomeColumns = (...heads: readonly (keyof typeof outcomeTexts)[]) =>
  heads.map((head): Column<{ readonly outcome: Outcome }> => [head, ({ outcome }) => outcomeTexts[head](outcome)]);

const sweepTable = ({ sweep }: Study): Table =>
  tableOf(
    ['sweep', 'As the number of jobs rises'],
    [
      ...outcomeColumns('Jobs', 'Requests', 'Polls', 'Service at work', 'Changes a commit', 'Answers, 99 % within'),
      ...outcomeColumns('Gave up', 'Refused, had all one token', 'Connections', 'Lists'),
    ],
    sweep.map((outcome) => ({ outcome })),
    ['With more jobs than a service can serve, nothing more is simulated.'],
  );

function breaksTable({ breaks, sweep }: Study): Table {
  const most = numberText(sweep.at(-1)?.jobs ?? 0);
  return tableOf(
    ['breaks', 'What breaks first'],
    [
      ['What', ({ limit }) => limit.name],
      ['Reached when', ({ limit }) => limit.reachedWhen],
      [
        'With so many jobs',
        ({ jobs, used }) =>
          jobs === undefined ? `not with ${most}: ${percent(used)} of it is used` : numberText(jobs),
      ],
    ],
    breaks,
  );
}

const variantsTable = ({ variants, request }: Study): Table =>
  tableOf(
    ['variants', `${numberText(request.workload.jobs)} jobs, otherwise`],
    [
      ['', ({ name }) => name],
      ...outcomeColumns('Requests', 'Polls', 'Refused with 429', 'Service at work', 'Answers, 99 % within'),
      ...outcomeColumns('Mean wait', 'Gave up', 'Failed', 'Connections'),
    ],
    variants,
  );

/** Those that need more than one number of jobs are left out when there was one. */
export function tablesOf(study: Study): readonly Table[] {
  const always = [measuredTable, modelTable, workloadTable, waitsTable, hottestTable, sweepTable];
  return [...always, ...(study.request.alone ? [] : [breaksTable, variantsTable])].map((make) => make(study));
}
