import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ledgerFile } from '../src/locks/ledger/ledger.ts';
import { readActionFile } from '../test/support/runner/action-file.ts';
import { startSmallService } from '../test/support/small-service.ts';
import { type Inputs, startJob } from './action-step.ts';
import { atMost, type Bench, type Benchmark, type Figure, figure, inTurns, medianFigure } from './benchmark.ts';
import { run } from './process.ts';
import { medianOf, percentileOf } from './statistics.ts';

const full = { rounds: 60 };
const small = { rounds: 2 };

const command = join(import.meta.dirname, '../build/workspace-service.mjs');

/** A program that is started repeatedly with this version of Node. */
interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly exitCode: number;
  /** Limit of the CPU time relative to bare Node. */
  readonly maxRatio?: number;
  /** Called before each start. */
  readonly prepare?: () => Promise<void>;
  readonly wallMs: number[];
  /** CPU time as counted by the system. */
  readonly cpuMs: number[];
}

async function measureOnce({ args, env, exitCode, prepare, wallMs, cpuMs }: Subject, { signal }: Bench) {
  await prepare?.();
  wallMs.push((await run(process.execPath, args, { env, signal, exitCode })).ms);
  await prepare?.();
  // Node does not report the CPU time of a child process. Bash does, to the millisecond.
  const shell = ['-c', 'TIMEFORMAT="used %U %S"; time "$@"', 'bash', process.execPath, ...args];
  const { output } = await run('bash', shell, { env, signal, exitCode });
  const [, user, system] = /^used (\S+) (\S+)$/m.exec(output) ?? [];
  cpuMs.push((Number(user) + Number(system)) * 1_000);
}

function figuresOf({ name, wallMs, cpuMs, maxRatio }: Subject, bare: Subject): readonly Figure[] {
  const time = medianFigure(`${name}: wall time`, 'ms', wallMs);
  if (name === bare.name) return [time];
  return [
    time,
    figure(`${name}: wall time relative to bare Node`, '×', time.value / medianOf(bare.wallMs)),
    // Other work on the machine only adds time.
    figure(`${name}: CPU time relative to bare Node`, '×', quartileOf(cpuMs) / quartileOf(bare.cpuMs), {
      ...(maxRatio !== undefined && { limit: atMost(maxRatio, 'design §6'), shown: true }),
    }),
  ];
}

const quartileOf = (numbers: readonly number[]): number => percentileOf(numbers, 25);

/** All environment variables of a step with these inputs on a runner. */
async function environmentOf(inputs: Inputs, bench: Bench): Promise<NodeJS.ProcessEnv> {
  const job = await startJob(bench);
  const main = join(job.folders.temp, 'environment.mjs');
  await writeFile(main, 'process.stdout.write(JSON.stringify(process.env));');
  // Written by the file above.
  return JSON.parse((await job.run({ main, post: null, with: inputs })).written.join('\n')) as NodeJS.ProcessEnv;
}

export const start: Benchmark = {
  name: 'start',
  what: 'Start time of the action and the command, compared with bare Node.',
  async measure(bench) {
    const service = await startSmallService();
    bench.atEnd(service.close);
    const { main, post = '' } = await readActionFile();
    const connection = { 'base-url': service.baseUrl, token: 'wsa_bench', workspace: 'game' };
    const variables = { WORKSPACE_BASE_URL: service.baseUrl, WORKSPACE_TOKEN: 'wsa_bench', WORKSPACE_ID: 'game' };
    const listing = { ...connection, workspace: '', operation: 'list-workspaces' };
    const [env, asking] = [await environmentOf({}, bench), await environmentOf(listing, bench)];
    const locked = await startJob(bench);
    const step = await locked.run({ with: { ...connection, operation: 'lock', path: 'a' } });
    const locking = await environmentOf({ ...connection, operation: 'lock', path: 'a' }, bench);
    const ledger = ledgerFile(locked.folders.temp);
    const lines = await readFile(ledger, 'utf8');
    const state = Object.fromEntries(Object.entries(step.state).map(([name, value]) => [`STATE_${name}`, value]));
    const ofLock = { ...locking, RUNNER_TEMP: locked.folders.temp, GITHUB_STATE: join(locked.folders.temp, 'state') };
    await writeFile(ofLock.GITHUB_STATE, '');
    const subject = (name: string, args: readonly string[], more: Partial<Subject> = {}): Subject => ({
      ...{ name, args, env, exitCode: 0, wallMs: [], cpuMs: [] },
      ...more,
    });
    const bare = subject('bare Node: node -e 0', ['-e', '0']);
    const subjects = [
      bare,
      subject('rejecting a wrong input', [main], { exitCode: 1, maxRatio: 1.3 }),
      subject('one request, answered', [main], { env: asking, maxRatio: 1.9 }),
      subject('one lock', [main], { env: ofLock, maxRatio: 2.2, prepare: () => rm(ledger, { force: true }) }),
      subject('the post-step of one lock', [post], {
        env: { ...ofLock, ...state, STATE_main: '' },
        maxRatio: 2,
        prepare: () => writeFile(ledger, lines),
      }),
      subject('a post-step without work', [post]),
      subject('workspace-service --version', [command, '--version'], { maxRatio: 3 }),
      subject('workspace-service lock list', [command, 'lock', 'list'], { env: { ...env, ...variables }, maxRatio: 5 }),
    ];
    // The first start of each program finds cold system caches.
    for (const each of subjects) await measureOnce({ ...each, wallMs: [], cpuMs: [] }, bench);
    const { rounds } = bench.quick ? small : full;
    await inTurns(bench, rounds, subjects, (each) => measureOnce(each, bench));
    return subjects.flatMap((each) => figuresOf(each, bare));
  },
};
