import { logOutput, type Output } from './output/log-output.ts';

export type StopSignal = 'SIGINT' | 'SIGTERM';

/** The effects of a command besides files, sockets and databases. */
export interface ProcessIo {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Returns a function that stops listening. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  endAtOnce(exitCode: number): void;
}

/** A reader that has gone away, such as `head`, is no error. */
function ignoreGoneReader(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

export function processIo(): ProcessIo {
  const { stdout, stderr } = process;
  ignoreGoneReader(stdout);
  return {
    stdout,
    stderr: logOutput(stderr, 2),
    onSignal(listener) {
      process.on('SIGINT', listener).on('SIGTERM', listener);
      return () => void process.off('SIGINT', listener).off('SIGTERM', listener);
    },
    endAtOnce: (exitCode) => process.exit(exitCode),
  };
}
