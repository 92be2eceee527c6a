import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { StopSignal } from '../../src/command/io.ts';
import { awaitStop } from '../../src/command/io.ts';

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)(
  'treats signals in quick succession as one stop request, and ends on a later %s with %d',
  async (later, code) => {
    const listeners = new Set<(signal: StopSignal) => void>();
    const ended: number[] = [];
    let now = 5_000;
    const io = {
      stdout: { write: () => undefined },
      stderr: { write: () => undefined },
      input: () => Readable.from([]),
      output: () => new PassThrough(),
      onSignal(listener: (signal: StopSignal) => void) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      endAtOnce: (exitCode: number) => void ended.push(exitCode),
    };
    const send = (signal: StopSignal, afterMs = 0) => {
      now += afterMs;
      for (const listener of listeners) listener(signal);
    };
    const stop = awaitStop(io, () => now);
    send('SIGINT');
    send('SIGINT');
    send('SIGTERM', 999);
    expect(await stop.received).toBe('SIGINT');
    expect(ended).toEqual([]);
    send(later, 1);
    expect(ended).toEqual([code]);
    stop.forget();
    expect(listeners.size).toBe(0);
  },
);
