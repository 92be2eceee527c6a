import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Load, LoadPlan } from './load.ts';
import type { LoadAnswer } from './load-process.ts';

export interface LoadGenerator {
  run(plan: LoadPlan): Promise<Load>;
  stop(): void;
}

function nextAnswer(child: ChildProcess): Promise<LoadAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<LoadAnswer>();
  const onExit = (code: number | null): void => reject(new Error(`The load generator ended with ${code}.`));
  child.once('exit', onExit);
  // Only load-process.ts is at the other end.
  child.once('message', (message) => resolve(message as LoadAnswer));
  return promise.finally(() => child.off('exit', onExit));
}

/** In a process of its own, so that it shares no event loop with what it measures, nor with who measures. */
export function startLoadGenerator(): LoadGenerator {
  const child = fork(join(import.meta.dirname, 'load-process.ts'), { serialization: 'advanced' });
  return {
    async run(plan) {
      const answered = nextAnswer(child);
      child.send(plan);
      const answer = await answered;
      if (answer.kind === 'failed') throw new Error(answer.why);
      return answer.load;
    },
    stop: () => void child.kill('SIGKILL'),
  };
}
