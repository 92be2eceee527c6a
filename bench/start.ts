import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readActionFile } from '../test/support/runner/action-file.ts';
import { openJob } from '../test/support/runner/job.ts';
import { startSmallService } from '../test/support/small-service.ts';
import type { Inputs } from './action-step.ts';
import { atMost, type Bench, type Benchmark, type Figure, figure, inTurns, medianFigure, rounds } from './benchmark.ts';
import { run } from './process.ts';
import { medianInterval, medianOf, middleMean } from './statistics.ts';

const minRounds = 20;
const maxRounds = 120;
const quickRounds = 2;

/** Something to start with this Node, again and again. */
interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly exitCode: number;
  /** Of its wall time, over that of Node alone. */
  readonly maxRatio?: number;
  readonly wallMs: number[];
  /** What the processors worked for it, as the system counts it. */
  readonly cpuMs: number[];
}

async function measureOnce({ args, env, exitCode, wallMs, cpuMs }: Subject, { signal }: Bench): Promise<void> {
  wallMs.push((await run(process.execPath, args, { env, signal, exitCode })).ms);
  // Node does not tell what a child has used; a shell does, to the millisecond.
  const shell = ['-c', 'TIMEFORMAT="used %U %S"; time "$@"', 'bash', process.execPath, ...args];
  const { output } = await run('bash', shell, { env, signal, exitCode });
  const [, user, system] = /^used (\S+) (\S+)$/m.exec(output) ?? [];
  cpuMs.push((Number(user) + Number(system)) * 1_000);
}

/** The interval of its median is narrow. */
function isSteady({ wallMs }: Subject): boolean {
  const [from, to] = medianInterval(wallMs);
  return to - from <= 0.04 * medianOf(wallMs);
}

function figuresOf({ name, wallMs, cpuMs, maxRatio }: Subject, bare: Subject): readonly Figure[] {
  const time = medianFigure(`${name}: wall time`, 'ms', wallMs, { details: [rounds('ms', cpuMs, 'processor time')] });
  if (name === bare.name) return [time];
  return [
    time,
    figure(`${name}: wall time over Node alone`, '×', time.value / medianOf(bare.wallMs), {
      ...(maxRatio !== undefined && { limit: atMost(maxRatio, 'design §6'), shown: 'in README' }),
    }),
    // The mean of the half in the middle: this clock has coarse steps.
    figure(`${name}: processor time over Node alone`, '×', middleMean(cpuMs) / middleMean(bare.cpuMs)),
  ];
}

/** Tells all variables that steps with given inputs have on a runner. */
async function openRunner({ atEnd }: Bench): Promise<(inputs: Inputs) => Promise<NodeJS.ProcessEnv>> {
  const job = await openJob();
  atEnd(job.end);
  const main = join(job.folders.temp, 'environment.mjs');
  await writeFile(main, 'process.stdout.write(JSON.stringify(process.env));');
  // The file above has written them.
  return async (inputs) => JSON.parse((await job.run({ main, post: null, with: inputs })).rawLog) as NodeJS.ProcessEnv;
}

export const start: Benchmark = {
  name: 'start',
  what: 'How long the action takes to start, beside a Node that does nothing.',
  async measure(bench) {
    const service = await startSmallService();
    bench.atEnd(service.stop);
    const { main, post = '' } = await readActionFile();
    const environment = await openRunner(bench);
    const env = await environment({});
    const operation = { operation: 'list-workspaces', 'base-url': service.baseUrl, token: 'wsa_bench' };
    const subject = (name: string, args: readonly string[], more: Partial<Subject> = {}): Subject => ({
      ...{ name, args, env, exitCode: 0, wallMs: [], cpuMs: [] },
      ...more,
    });
    const bare = subject('Node alone: node -e 0', ['-e', '0']);
    const request = { env: await environment(operation), maxRatio: 2.2 };
    const subjects = [
      bare,
      subject('a wrong input, told', [main], { exitCode: 1, maxRatio: 1.9 }),
      subject('one request, answered', [main], request),
      subject('a post-step without work', [post]),
    ];
    // The first start of each finds nothing in the caches of the system.
    for (const each of subjects) await measureOnce({ ...each, wallMs: [], cpuMs: [] }, bench);
    const isEnough = (done: number): boolean => done >= minRounds && subjects.every(isSteady);
    await inTurns(bench, bench.quick ? quickRounds : maxRounds, subjects, (each) => measureOnce(each, bench), isEnough);
    return { figures: subjects.flatMap((each) => figuresOf(each, bare)) };
  },
};
