import { existsSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { logOutput, type Output } from './output/log-output.ts';

export type StopSignal = 'SIGINT' | 'SIGTERM';

/** The effects of a command besides files, sockets and databases. */
export interface ProcessIo {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Stdin and stdout, for bytes. The caller handles their errors. */
  input(): Readable;
  output(): Writable;
  /** Returns a function that stops listening. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  endAtOnce(exitCode: number): void;
}

export function processIo(): ProcessIo {
  const { stdout, stderr } = process;
  // A closed pipe, as with `head`, is no error.
  function onError(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EPIPE') throw error;
  }
  stdout.on('error', onError);
  return {
    stdout,
    stderr: logOutput(stderr, 2),
    input: () => process.stdin,
    output: () => stdout.off('error', onError),
    onSignal(listener) {
      process.on('SIGINT', listener).on('SIGTERM', listener);
      return () => void process.off('SIGINT', listener).off('SIGTERM', listener);
    },
    endAtOnce: (exitCode) => process.exit(exitCode),
  };
}

export const versionText = (): string => `${packageVersion()} (revision ${revision() ?? 'unknown'})`;

/** From package.json, which is equally far above the sources and the build. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  // The package's own file, which the tests of the package read too.
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** The commit that the service was built from, in a file that compile.ts writes; undefined if it was unknown then. */
export function revision(): string | undefined {
  const file = new URL('../revision', import.meta.url);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
