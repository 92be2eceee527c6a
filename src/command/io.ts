import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { errorCode, systemErrorText } from '../interface/system-errors.ts';

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type StopSignal = (typeof stopSignals)[number];

export interface Output {
  write(text: string): void;
}

/** Side effects of a command except files, sockets and databases. */
export interface ProcessIo {
  readonly stdout: Output;
  readonly stderr: Output;
  onSignal(listener: (signal: StopSignal) => void): () => void;
  endAtOnce(exitCode: number): void;
}

export function processIo(): ProcessIo {
  const { stdout } = process;
  // The errors of the log, such as a closed pipe or a full disk, do not end the service.
  process.stderr.on('error', () => undefined);
  const stderr = process.stderr instanceof Socket ? process.stderr : lastingFile(2);
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A closed pipe, for example to `head`, is not an error.
    if (error.code === 'EPIPE') return;
    // The command continues, because it must still release its locks, or take all of them.
    const reason = systemErrorText(errorCode(error)) ?? error.message;
    stderr.write(`The output could not be written: ${reason}.\n`);
    process.once('exit', () => {
      process.exitCode ||= 1;
    });
  });
  return {
    stdout,
    stderr,
    onSignal: (listener) => onSignals(stopSignals, listener),
    endAtOnce: (exitCode) => process.exit(exitCode),
  };
}

/**
 * Appends lines to a file. A full disk loses text, but the next text starts on a new line: Node's own stream would
 * continue in the middle of one.
 */
export function lastingFile(fd: number, write: (fd: number, bytes: Buffer) => number = writeSync): Output {
  let isCut = false;
  return {
    write(text) {
      const bytes = Buffer.from(isCut ? `\n${text}` : text);
      try {
        isCut = write(fd, bytes) < bytes.length;
      } catch {
        // The log itself has failed, so the error cannot be reported. Nothing was written.
      }
    },
  };
}

/** Calls the listener for each of the signals. Returns a function that restores the default handling. */
export function onSignals<Name extends NodeJS.Signals>(names: readonly Name[], listener: (signal: Name) => void) {
  for (const name of names) process.on(name, listener);
  return () => {
    for (const name of names) process.off(name, listener);
  };
}

export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/**
 * Ctrl-C in a terminal reaches all of its processes, and npm also forwards the signal to the command that it runs. A
 * signal this soon after the first one is a duplicate.
 */
const duplicateMs = 1_000;

/**
 * The first signal stops the command gracefully, and a later one ends the process at once. `forget` restores the
 * default handling of signals.
 */
export function awaitStop(io: ProcessIo) {
  const { promise: received, resolve } = Promise.withResolvers<StopSignal>();
  const interruption = new AbortController();
  let first: { readonly signal: StopSignal; readonly at: number } | undefined;
  const forget = io.onSignal((signal) => {
    if (first === undefined) {
      first = { signal, at: performance.now() };
      resolve(signal);
      interruption.abort();
    } else if (performance.now() - first.at >= duplicateMs) {
      io.endAtOnce(exitCodeOf(signal));
    }
  });
  return {
    received,
    forget,
    interrupted: interruption.signal,
    exitCode: () => first && exitCodeOf(first.signal),
  };
}
