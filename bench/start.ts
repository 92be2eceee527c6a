import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readActionFile } from '../test/support/runner/action-file.ts';
import { startSmallService } from '../test/support/small-service.ts';
import { type Inputs, startJob } from './action-step.ts';
import {
  atMost,
  type Bench,
  type Benchmark,
  type Figure,
  figure,
  inTurns,
  medianFigure,
  ratioFigure,
} from './benchmark.ts';
import { run } from './process.ts';
import { medianOf } from './statistics.ts';

const full = { rounds: 60 };
const small = { rounds: 2 };

/** A program that is started repeatedly with this version of Node. */
interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly exitCode: number;
  /** Limit of the wall time relative to bare Node. */
  readonly maxRatio?: number;
  readonly wallMs: number[];
  /** CPU time as counted by the system. */
  readonly cpuMs: number[];
}

async function measureOnce({ args, env, exitCode, wallMs, cpuMs }: Subject, { signal }: Bench): Promise<void> {
  wallMs.push((await run(process.execPath, args, { env, signal, exitCode })).ms);
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
    figure(`${name}: wall time relative to bare Node`, '×', time.value / medianOf(bare.wallMs), {
      ...(maxRatio !== undefined && { limit: atMost(maxRatio, 'design §6'), shown: true }),
    }),
    ratioFigure(`${name}: CPU time relative to bare Node`, cpuMs, bare.cpuMs),
  ];
}

/** All environment variables of a step with these inputs on a runner. */
async function environmentOf(inputs: Inputs, bench: Bench): Promise<NodeJS.ProcessEnv> {
  const job = await startJob(bench);
  const main = join(job.folders.temp, 'environment.mjs');
  await writeFile(main, 'process.stdout.write(JSON.stringify(process.env));');
  // Written by the file above.
  return JSON.parse((await job.run({ main, post: null, with: inputs })).rawLog) as NodeJS.ProcessEnv;
}

export const start: Benchmark = {
  name: 'start',
  what: 'Start time of the action, compared with bare Node.',
  async measure(bench) {
    const service = await startSmallService();
    bench.atEnd(service.close);
    const { main, post = '' } = await readActionFile();
    const operation = { operation: 'list-workspaces', 'base-url': service.baseUrl, token: 'wsa_bench' };
    const [env, asking] = [await environmentOf({}, bench), await environmentOf(operation, bench)];
    const subject = (name: string, args: readonly string[], more: Partial<Subject> = {}): Subject => ({
      ...{ name, args, env, exitCode: 0, wallMs: [], cpuMs: [] },
      ...more,
    });
    const bare = subject('bare Node: node -e 0', ['-e', '0']);
    const subjects = [
      bare,
      subject('rejecting a wrong input', [main], { exitCode: 1, maxRatio: 1.9 }),
      subject('one request, answered', [main], { env: asking, maxRatio: 2.2 }),
      subject('a post-step without work', [post]),
    ];
    // The first start of each program finds cold system caches.
    for (const each of subjects) await measureOnce({ ...each, wallMs: [], cpuMs: [] }, bench);
    const { rounds } = bench.quick ? small : full;
    await inTurns(bench, rounds, subjects, (each) => measureOnce(each, bench));
    return subjects.flatMap((each) => figuresOf(each, bare));
  },
};
