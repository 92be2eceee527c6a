import { busyText, machineText, numberText } from '../table.ts';
import type { Kind, Load } from './service-times.ts';
import type { Study } from './study.ts';

/** What a study says, as tables: for the terminal, and for docs/scaling.md. */
export interface Table {
  /** Its place in the page. */
  readonly name: string;
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

const percent = (share: number): string => `${numberText(share * 100)} %`;

/** A span of time as it matters to who waits. */
function seconds(value: number): string {
  if (value < 1) return `${numberText(value * 1_000)} ms`;
  return value < 120 ? `${numberText(value)} s` : `${numberText(value / 60)} min`;
}

const milliseconds = (value: number): string => `${numberText(value)} ms`;
const perSecond = (value: number): string => `${numberText(value)} /s`;
const bytesPerSecond = (value: number): string => `${numberText(value / 1e6)} MB/s`;
const ofAll = (part: number, whole: number): string => `${numberText(part)} (${percent(part / Math.max(1, whole))})`;

const nameOfKind: Readonly<Record<Kind, string>> = {
  nothing: 'the route without a database',
  poll: 'a path that somebody holds, refused',
  take: 'a path taken, on disk',
};

function measuredTable({ measured }: Study): Table {
  const rows = measured.databases.flatMap(({ database, measurements }, index) => {
    const row = ({ kind, clients, perSecond: rate, p50Ms, p99Ms }: Load): readonly string[] => [
      kind === 'nothing' ? 'none' : database,
      nameOfKind[kind],
      numberText(clients),
      perSecond(rate),
      milliseconds(p50Ms),
      milliseconds(p99Ms),
    ];
    const loads = measurements.loads.filter(({ kind }) => index === 0 || kind !== 'nothing');
    const { ms, locks, bytes } = measurements.page;
    const page = [
      database,
      `a page of ${numberText(locks)} locks, ${numberText(bytes / 1_000)} KB`,
      '1',
      '',
      milliseconds(ms),
      '',
    ];
    return [...loads.map(row), page];
  });
  const { date, machine } = measured;
  const busy = busyText(measured);
  return {
    name: 'measured',
    title: 'What the service does',
    head: ['Database', 'What', 'Clients', 'Answers', 'Half of them within', '99 % within'],
    rows,
    notes: [
      `Measured on ${date.slice(0, 10)}, with the rate limit off: all clients had one token. ${machineText(measured)}`,
      ...(busy === undefined ? [] : [busy]),
    ].concat(measured.quick ? [`The run was a quick one on ${machine.processor}, and its figures mean little.`] : []),
  };
}

function predictionTable({ measured }: Study): Table {
  return {
    name: 'model',
    title: 'The simulated service under the loads that the real one was measured with',
    head: ['Database', 'What', 'Clients', 'Simulated', 'Measured', 'Half within, simulated', 'measured'],
    rows: measured.databases.flatMap(({ database, predictions }, index) =>
      // Without a database, it is the same for all of them.
      predictions
        .filter(({ kind }) => index === 0 || kind !== 'nothing')
        .map(({ kind, clients, predicted, measured: real }) => [
          kind === 'nothing' ? 'none' : database,
          nameOfKind[kind],
          numberText(clients),
          perSecond(predicted.perSecond),
          perSecond(real.perSecond),
          milliseconds(predicted.p50Ms),
          milliseconds(real.p50Ms),
        ]),
    ),
    notes: ['The model is made of the rows with the fewest and the most clients; those in between it has to predict.'],
  };
}

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

function waitsTable({ outcome }: Study): Table {
  const { fairness, ended, gaveUp, failed } = outcome;
  return {
    name: 'waits',
    title: 'How long jobs wait, by the path of theirs that is wanted most',
    head: ['Path is one of', 'Jobs', 'Half within', '95 % within', '99 % within', 'The longest', 'Gave up'],
    rows: outcome.waits.map((waits) => [
      waits.name,
      numberText(waits.steps),
      seconds(waits.p50Seconds),
      seconds(waits.p95Seconds),
      seconds(waits.p99Seconds),
      seconds(waits.mostSeconds),
      ofAll(waits.gaveUp, waits.steps),
    ]),
    notes: [
      `Of ${numberText(ended)} jobs ${ofAll(gaveUp, ended)} gave up at the end of their wait, and ${numberText(failed)} failed otherwise.`,
      `Of those that had to wait and got their paths, half waited for less than ${seconds(fairness.medianSeconds)}, and the longest for ${seconds(fairness.longestSeconds)}. ${percent(fairness.overtaking)} of them were served before somebody who had waited for the same path for longer.`,
    ],
  };
}

const hottestTable = ({ outcome }: Study): Table => ({
  name: 'hottest',
  title: 'The paths that are wanted most',
  head: ['Place', 'Jobs that wanted it', 'Got it', 'Gave up or failed', 'Part of the time in which a job had it'],
  rows: outcome.hottest.map(({ place, wanted, acquired, gaveUp, held }) => [
    numberText(place + 1),
    numberText(wanted),
    numberText(acquired),
    numberText(gaveUp),
    percent(held),
  ]),
  notes: [
    'A job that vanished holds its paths until their `ttl`; that time is not counted here, and nobody else gets the path in it.',
  ],
});

const sweepTable = ({ sweep }: Study): Table => ({
  name: 'sweep',
  title: 'As the number of jobs rises',
  head: [
    'Jobs',
    'Requests',
    'Polls',
    'Service at work',
    'Changes a commit',
    'Answers, 99 % within',
    'Gave up',
    'Refused, had all one token',
    'Connections',
    'Lists',
  ],
  rows: sweep.map((outcome) => [
    numberText(outcome.jobs),
    perSecond(outcome.requestsPerSecond),
    percent(outcome.pollsShare),
    percent(Math.max(outcome.threadBusy, outcome.writerBusy)),
    numberText(outcome.changesPerCommit),
    milliseconds(outcome.answerMs.p99),
    percent(outcome.gaveUp / Math.max(1, outcome.ended)),
    percent(outcome.oneTokenRefusedShare),
    numberText(outcome.connections),
    bytesPerSecond(outcome.listedBytesPerSecond),
  ]),
  notes: ['With more jobs than a service can serve, nothing more is simulated.'],
});

const breaksTable = ({ breaks, sweep }: Study): Table => ({
  name: 'breaks',
  title: 'What breaks first',
  head: ['What', 'Reached when', 'With so many jobs'],
  rows: breaks.map(({ limit, jobs, used }) => [
    limit.name,
    limit.reachedWhen,
    jobs === undefined
      ? `not with ${numberText(sweep.at(-1)?.jobs ?? 0)}: ${percent(used)} of it is used`
      : numberText(jobs),
  ]),
  notes: [],
});

const variantsTable = ({ variants, request }: Study): Table => ({
  name: 'variants',
  title: `${numberText(request.workload.jobs)} jobs, otherwise`,
  head: [
    '',
    'Requests',
    'Polls',
    'Refused with 429',
    'Service at work',
    'Answers, 99 % within',
    'Mean wait',
    'Gave up',
    'Failed',
    'Connections',
  ],
  rows: variants.map(({ name, outcome }) => [
    name,
    perSecond(outcome.requestsPerSecond),
    percent(outcome.pollsShare),
    percent(outcome.rateLimitedShare),
    percent(Math.max(outcome.threadBusy, outcome.writerBusy)),
    milliseconds(outcome.answerMs.p99),
    seconds(outcome.meanWaitSeconds),
    percent(outcome.gaveUp / Math.max(1, outcome.ended)),
    percent(outcome.failed / Math.max(1, outcome.ended)),
    numberText(outcome.connections),
  ]),
  notes: [],
});

/** Those that need more than one number of jobs are left out when there was one. */
export function tablesOf(study: Study): readonly Table[] {
  const one = [measuredTable, predictionTable, workloadTable, waitsTable, hottestTable];
  const more = study.request.alone ? [] : [breaksTable, variantsTable];
  return [...one, sweepTable, ...more].map((make) => make(study));
}

const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[|<\\]/g, '\\$&');

export function asMarkdown({ head, rows, notes }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [
    line(head),
    `|${head.map((_, index) => (index === 0 ? '---|' : '--:|')).join('')}`,
    ...rows.map(line),
    ...notes.flatMap((note) => ['', cell(note)]),
  ].join('\n');
}

export function asText({ title, head, rows, notes }: Table): string {
  const widths = head.map((_, index) => Math.max(...[head, ...rows].map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `  ${cells
      .map((text, index) => (index === 0 ? text.padEnd(widths[index] ?? 0) : text.padStart(widths[index] ?? 0)))
      .join('  ')}`.trimEnd();
  const lines = [head.join('') === '' ? [] : [line(head)], rows.map(line), notes.map((note) => `  ${note}`)].flat();
  return `${title}\n${lines.join('\n')}\n`;
}

/** The page with each table anew between its two comments. */
export function withTables(markdown: string, tables: readonly Table[]): string {
  let text = markdown;
  for (const table of tables) {
    const { name } = table;
    const place = new RegExp(`(<!-- simulate ${name}: [^\\n]* -->\\n).*?(<!-- /simulate ${name} -->)`, 's');
    if (!place.test(text)) throw new Error(`There is no place for a table in the page: <!-- simulate ${name}: … -->.`);
    text = text.replace(place, (_, begin: string, end: string) => `${begin}\n${asMarkdown(table)}\n\n${end}`);
  }
  return text;
}
