import { startSmallService } from '../test/support/small-service.ts';
import { mainModule, openSteps, postModule } from './action-step.ts';
import { atMost, type Bench, type Benchmark, type Figure, figure, inTurns, medianFigure, rounds } from './benchmark.ts';
import { budgets } from './budgets.ts';
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
  const script = 'TIMEFORMAT="used %U %S"; time "$@"';
  const shell = ['-c', script, 'bash', process.execPath, ...args];
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

export const start: Benchmark = {
  name: 'start',
  what: 'How long the action takes to start, beside a Node that does nothing.',
  async measure(bench) {
    const service = await startSmallService();
    bench.atEnd(() => service.stop());
    const steps = await openSteps();
    bench.atEnd(() => steps.end());
    const env = steps.environment({});
    const request = steps.environment({
      operation: 'list-workspaces',
      'base-url': service.baseUrl,
      token: 'wsa_bench',
    });
    const subject = (name: string, args: readonly string[], more: Partial<Subject> = {}): Subject => ({
      ...{ name, args, env, exitCode: 0, wallMs: [], cpuMs: [] },
      ...more,
    });
    const bare = subject('Node alone: node -e 0', ['-e', '0']);
    const subjects = [
      bare,
      subject('a wrong input, told', [mainModule], { exitCode: 1, maxRatio: budgets.wrongInputRatio }),
      subject('one request, answered', [mainModule], { env: request, maxRatio: budgets.oneRequestRatio }),
      subject('a post-step without work', [postModule]),
    ];
    // The first start of each finds nothing in the caches of the system.
    for (const each of subjects) await measureOnce({ ...each, wallMs: [], cpuMs: [] }, bench);
    const isEnough = (done: number): boolean => done >= minRounds && subjects.every(isSteady);
    await inTurns(bench, bench.quick ? quickRounds : maxRounds, subjects, (each) => measureOnce(each, bench), isEnough);
    return { figures: subjects.flatMap((each) => figuresOf(each, bare)) };
  },
};
