import { expect, test } from 'vitest';
import type { ProcessIo, StopSignal } from '../../../src/service/cli/process-io.ts';
import { awaitStop } from '../../../src/service/cli/serve/stop-request.ts';

function signalled() {
  const listeners = new Set<(signal: StopSignal) => void>();
  const ended: number[] = [];
  let now = 5_000;
  const io: ProcessIo = {
    stdout: { write: () => undefined },
    stderr: { write: () => undefined },
    onSignal(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    endAtOnce: (code) => void ended.push(code),
  };
  return {
    stop: awaitStop(io, () => now),
    ended,
    listeners,
    send(signal: StopSignal, afterMs = 0) {
      now += afterMs;
      for (const listener of listeners) listener(signal);
    },
  };
}

test('the first signal asks to stop, and those right behind it are the same wish', async () => {
  const { stop, ended, send } = signalled();
  send('SIGINT');
  send('SIGINT');
  send('SIGTERM', 999);
  expect(await stop.received).toBe('SIGINT');
  expect(ended).toEqual([]);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a later %s ends at once with %d', (signal, code) => {
  const { ended, send } = signalled();
  send('SIGTERM');
  send(signal, 1_000);
  expect(ended).toEqual([code]);
});

test('nobody listens any more when it is over', () => {
  const { stop, listeners } = signalled();
  stop.forget();
  expect(listeners.size).toBe(0);
});
