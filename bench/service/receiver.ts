import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { ReceiverMessage } from './receiver-process.ts';

export interface Receiver {
  readonly port: number;
  /** Counts from now on; gives the milliseconds from the first to the last of so many. */
  expect(number: number): Promise<number>;
  stop(): void;
}

/** A receiver of webhooks as a process of its own. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'receiver-process.ts'));

  function next(): Promise<ReceiverMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<ReceiverMessage>();
    const onExit = (code: number | null): void => reject(new Error(`The receiver ended with ${code}.`));
    child.once('exit', onExit);
    // Only receiver-process.ts is at the other end.
    child.once('message', (message) => resolve(message as ReceiverMessage));
    return promise.finally(() => child.off('exit', onExit));
  }

  const listening = await next();
  if (listening.kind !== 'listening') throw new Error('The receiver does not listen.');
  return {
    port: listening.port,
    async expect(number) {
      const all = next();
      child.send(number);
      const message = await all;
      return message.kind === 'all' ? message.ms : Number.NaN;
    },
    stop: () => void child.kill('SIGKILL'),
  };
}
