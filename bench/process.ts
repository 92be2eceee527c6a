import { fork, spawn } from 'node:child_process';

/** Processes that are measured, and those that measure. */

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Any other fails. */
  readonly exitCode?: number;
}

export interface EndedProcess {
  readonly output: string;
  /** From its start until it has ended and all that it wrote is read. */
  readonly ms: number;
}

/** Runs a program to its end, with pipes as the runner has them. */
export function run(
  program: string,
  args: readonly string[],
  { env, signal, exitCode = 0 }: RunOptions,
): Promise<EndedProcess> {
  const { promise, resolve, reject } = Promise.withResolvers<EndedProcess>();
  const startedAt = performance.now();
  const child = spawn(program, args, { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.once('error', reject).once('close', (code) => {
    const ms = performance.now() - startedAt;
    if (code === exitCode) resolve({ output, ms });
    else reject(new Error(`${program} ${args[0]} ended with ${code} and not with ${exitCode}:\n${output}`));
  });
  return promise;
}

type Reply<Answer> = { readonly answer: Answer } | { readonly failure: string };

export interface Helper<Question, Answer> {
  /** One at a time. */
  ask(question: Question): Promise<Answer>;
  stop(): void;
}

/** Starts a module that calls answerParent(): it shares no event loop with what is measured, nor with who measures. */
export function startHelper<Question extends object | string | number, Answer>(file: string): Helper<Question, Answer> {
  const child = fork(file);
  return {
    ask(question) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const onExit = (code: number | null): void => reject(new Error(`${file} ended with ${code}.`));
      child.once('exit', onExit).once('message', (message) => {
        // answerParent() is at the other end.
        const reply = message as Reply<Answer>;
        if ('failure' in reply) reject(new Error(reply.failure));
        else resolve(reply.answer);
      });
      child.send(question);
      return promise.finally(() => child.off('exit', onExit));
    },
    stop: () => void child.kill('SIGKILL'),
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
