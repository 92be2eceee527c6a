import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figuresOf, loadNow, type Results, readResults, thisMachine } from '../bench/results.ts';
import { limitNote, machineText, numberText } from '../bench/table.ts';
import { keeps, type Limit, type Measured } from '../test/support/measured.ts';
import { markdownTable, plain, type Row, withText } from './markdown.ts';

/** Runs the tests and the benchmark whose figures docs/evidence.md shows, and writes them into it. */

const drills = ['test/fire/deaths.test.ts', 'test/fire/failover.test.ts'];
const histories = 'test/fire/instances.test.ts';
const page = join(import.meta.dirname, '../docs/evidence.md');

async function writeEvidence(folder: string): Promise<void> {
  const loadBefore = loadNow();
  const file = join(folder, 'measured');
  const vitest = (...args: readonly string[]) =>
    run(['npx', 'vitest', 'run', ...args], { SOAK: '1', EVIDENCE_FILE: file });
  // The first mostly wait. The histories need the whole machine, and so do the peers.
  const havePassed = [
    vitest(...drills, '--maxWorkers=2'),
    vitest(histories),
    run(['node', 'bench/main.ts', 'peers', '--out', folder], {}),
    run(['npm', 'run', 'mutants', '--', '--evidence', '--minutes', '120'], {}),
  ].every(Boolean);
  const results = await readResults(join(folder, 'results.json'));
  if (typeof results === 'string') throw new Error(results);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  // Written by measured().
  const figures = lines.map((line) => JSON.parse(line) as Measured);
  const circumstances = { machine: thisMachine(), loadBefore, loadAfter: loadNow() };
  const text = [
    plain(`Measured on ${results.date.slice(0, 10)}. ${machineText(circumstances)}`),
    `## Until the next job has the lock\n\n${deathsText(figures)}`,
    `## Histories\n\n${historiesText(figures)}`,
    `## Compared with etcd\n\n${peersText(results)}`,
  ];
  writeFileSync(page, withText(readFileSync(page, 'utf8'), 'evidence', text.join('\n\n')));
  if (!havePassed || !figures.every(isKept)) throw new Error('A limit was missed, or a test failed: see above.');
}

/** Runs a command; false if it fails. */
function run([command = '', ...args]: readonly string[], environment: NodeJS.ProcessEnv): boolean {
  return spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } }).status === 0;
}

const limitText = (limit: Limit): string =>
  Object.entries(limit)
    .map(([kind, value]) => `${{ atMost: '≤ ', atLeast: '≥ ' }[kind] ?? ''}${numberText(value)}`)
    .join();

const isKept = ({ value, limit }: Pick<Measured, 'value' | 'limit'>): boolean => keeps(value, limit);

/** A figure with its limit. */
const judged = ({ value, limit }: Pick<Measured, 'value' | 'limit'>, isGood: boolean): string =>
  `${numberText(value)} (${limitText(limit)}${isGood ? '' : ', MISSED'})`;

const linkTo = (test: string, text: string): string => `[${text}](../${test})`;

/** A row for each kind of death, with the median, the worst and its limit for each ttl. */
function deathsText(figures: readonly Measured[]): string {
  const found = figures.flatMap(({ name, value, limit, test }) => {
    const [, kind, ttl = ''] = /^(.*?)(?:, ttl (\w+))?: (?:median|worst)\b/.exec(name) ?? [];
    return kind === undefined ? [] : [{ kind, ttl, value, limit, test }];
  });
  const inOrder = found.toSorted((one, other) => one.test.localeCompare(other.test));
  const rows = [...Map.groupBy(inOrder, ({ kind }) => kind)].map(([kind, ofKind]): Row => {
    // An upgrade has no ttl.
    const [first = '', second = ''] = [...Map.groupBy(ofKind, ({ ttl }) => ttl).values()].map(([median, worst]) => {
      if (median === undefined || worst === undefined) throw new Error(`There is only one figure for: ${kind}`);
      return `${numberText(median.value)}, ${judged(worst, isKept(median) && isKept(worst))}`;
    });
    return [linkTo(ofKind[0]?.test ?? '', kind), first, second];
  });
  const head = ['After', 'ttl 30 s', 'ttl 5 min'];
  const intro =
    'Seconds: the median and the worst of twenty, and its limit. The dead job had `renew: true`, and the next one was waiting.';
  return `${intro}\n\n${markdownTable(head, rows, (column) => column > 0)}`;
}

function historiesText(figures: readonly Measured[]): string {
  const list = figures
    .filter(({ test, name }) => test === histories && /instance|restart|lock|Porcupine/.test(name))
    .map((figure) => `- ${figure.name}: ${judged(figure, isKept(figure))}`);
  const intro = `Three instances on PostgreSQL, 64 clients and two workspaces for a minute: ${linkTo(histories, 'the test')}.`;
  return [intro, '', ...list].join('\n');
}

/** A row for each server and number of clients. */
function peersText(results: Results): string {
  const besideEtcd = results.benchmarks.flatMap(figuresOf).filter(({ name }) => /^(SQLite|etcd),/.test(name));
  const figures = besideEtcd.map((figure) => {
    const [, server = '', clients = '', what = ''] = /^(.*), (\d+) clients?: (.*)$/.exec(figure.name) ?? [];
    return { ...figure, server, clients, what };
  });
  const rows = [...Map.groupBy(figures, ({ server, clients }) => `${server} ${clients}`).values()].map((all): Row => {
    const [first, ...more] = all;
    const cells = [first, ...more].map((each) => {
      if (each?.limit === undefined) return numberText(each?.value ?? Number.NaN);
      return `${numberText(each.value)} ×${limitNote(each)}`;
    });
    return [first?.server ?? '', first?.clients ?? '', ...cells, ...(all.length < 4 ? [''] : [])];
  });
  const leftOut = results.benchmarks.flatMap((each) => (each.kind === 'measured' ? (each.leftOut ?? []) : []));
  const head = ['', 'Clients', 'Pairs/s', 'p50 ms', 'p99 ms', 'Relative to etcd'];
  const intro = 'A pair is a lock and its release, both on disk. In etcd, each lock has a lease.';
  const table = markdownTable(head, rows, (column) => column > 0);
  return [intro, table, ...leftOut.map(({ name, reason }) => plain(`Left out: ${name}. ${reason}`))].join('\n\n');
}

const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
try {
  await writeEvidence(folder);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
