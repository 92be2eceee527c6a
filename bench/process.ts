import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Bench } from './benchmark.ts';

/** Processes that are measured, and those that measure. */

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Any other fails. */
  readonly exitCode?: number;
}

/** Runs a program to its end, with pipes as the runner has them; gives how long that took until all it wrote was read. */
export async function run(program: string, args: readonly string[], { env, signal, exitCode = 0 }: RunOptions) {
  const startedAt = performance.now();
  const child = spawn(program, args, { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close').then(([code]) => ({ code, ms: performance.now() - startedAt }));
  const [{ code, ms }, ...texts] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  const output = texts.join('');
  if (code !== exitCode)
    throw new Error(`${program} ${args[0]} ended with ${code} and not with ${exitCode}:\n${output}`);
  return { output, ms };
}

/** What a process holds in memory, and has held at most. Undefined where the system does not tell: only Linux does. */
export async function memoryOf(pid: number): Promise<{ readonly now: number; readonly peak: number } | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  const [, peak, now] = /^VmHWM:\s+(\d+) kB$.*^VmRSS:\s+(\d+) kB$/ms.exec(status ?? '') ?? [];
  return status === undefined ? undefined : { now: Number(now) / 1_024, peak: Number(peak) / 1_024 };
}

export type Ends = Pick<Bench, 'atEnd'>;

type Reply<Answer> = { readonly answer: Answer } | { readonly failure: string };

/** Starts a module that calls answerParent(): it shares no event loop with what is measured, nor with who measures. */
export function startHelper<Question extends object | string | number, Answer>({ atEnd }: Ends, file: string) {
  const child = fork(file);
  atEnd(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`${file} ended with ${code}.`);
  });
  // It is raced against later, and may end before.
  ended.catch(() => undefined);
  /** One at a time. */
  return async (question: Question): Promise<Answer> => {
    child.send(question);
    // answerParent() is at the other end.
    const [reply] = (await Promise.race([once(child, 'message'), ended])) as [Reply<Answer>];
    if ('failure' in reply) throw new Error(reply.failure);
    return reply.answer;
  };
}

/** The other end of startHelper(). */
export function answerParent<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  const send = (reply: Reply<Answer>): void => void process.send?.(reply);
  // Only startHelper() sends to this process.
  process.on('message', (question: Question) => {
    answer(question).then(
      (its) => send({ answer: its }),
      (error: unknown) => send({ failure: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.once('disconnect', () => process.exit());
}
