import { spawn } from 'node:child_process';

/** Something to start with this Node, again and again. */
export interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly exitCode: number;
}

export interface Runs {
  /** From the start of the process until it has ended and all that it wrote is read. */
  readonly wallMs: number[];
  /** What the processors worked for it, as the system counts it. */
  readonly cpuMs: number[];
}

interface End {
  readonly code: number | null;
  readonly output: string;
  readonly ms: number;
}

function start(program: string, args: readonly string[], environment: NodeJS.ProcessEnv): Promise<End> {
  const { promise, resolve, reject } = Promise.withResolvers<End>();
  const startedAt = performance.now();
  // Pipes, as the runner has them.
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.once('error', reject);
  child.once('close', (code) => resolve({ code, output, ms: performance.now() - startedAt }));
  return promise;
}

function check({ name, exitCode }: Subject, { code, output }: End): void {
  if (code !== exitCode) throw new Error(`${name} ended with ${code} and not with ${exitCode}:\n${output}`);
}

async function wallMs(subject: Subject): Promise<number> {
  const end = await start(process.execPath, subject.args, subject.environment);
  check(subject, end);
  return end.ms;
}

/** Node does not tell what a child has used; a shell does, to the millisecond. */
async function cpuMs(subject: Subject): Promise<number> {
  const script = 'TIMEFORMAT="used %U %S"; time "$@"';
  const end = await start('bash', ['-c', script, 'bash', process.execPath, ...subject.args], subject.environment);
  check(subject, end);
  const [, user, system] = /^used (\S+) (\S+)$/m.exec(end.output) ?? [];
  return (Number(user) + Number(system)) * 1_000;
}

/**
 * Runs all subjects in turn, each round beginning with another one, until `isEnough` of what was measured. What slows the
 * machine down meanwhile slows all of them down.
 */
export async function interleave(
  subjects: readonly Subject[],
  isEnough: (rounds: number, runs: readonly Runs[]) => boolean,
): Promise<readonly Runs[]> {
  const measured = subjects.map((subject): { readonly subject: Subject; readonly runs: Runs } => ({
    subject,
    runs: { wallMs: [], cpuMs: [] },
  }));
  const runs = measured.map((each) => each.runs);
  // The first start of each finds nothing in the caches of the system.
  for (const subject of subjects) await wallMs(subject);
  for (let rounds = 0; !isEnough(rounds, runs); rounds += 1) {
    const first = rounds % measured.length;
    for (const { subject, runs } of [...measured.slice(first), ...measured.slice(0, first)]) {
      runs.wallMs.push(await wallMs(subject));
      runs.cpuMs.push(await cpuMs(subject));
    }
  }
  return runs;
}
