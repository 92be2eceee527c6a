import { tmpdir } from 'node:os';
import { vi } from 'vitest';
import type { Command } from '../../src/command/command.ts';
import type { ProcessIo, StopSignal } from '../../src/command/io.ts';
import { runProgram } from '../../src/command/program.ts';
import { allCommands, main } from '../../src/main.ts';
import type { CommandResult } from '../support/service-process.ts';

/** The environment of the command in tests: nothing else from the environment of the tests. */
export const commandEnvironment = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: tmpdir(),
  WORKSPACE_SERVICE_DATA: folder,
});

/** Runs in this process. */
function startHere(run: (io: ProcessIo) => Promise<number>) {
  const written = { stdout: '', stderr: '' };
  let onSignal: (signal: StopSignal) => void = () => undefined;
  const outputTo = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const ended = run({
    stdout: outputTo('stdout'),
    stderr: outputTo('stderr'),
    onSignal(listener) {
      onSignal = listener;
      return () => undefined;
    },
    endAtOnce: () => undefined,
  });
  return {
    written: () => ({ ...written }),
    /** The printed output, as soon as it contains this text. */
    async printed(text: string): Promise<string> {
      const tooEarly = ended.then((code) => Promise.reject(new Error(`It ended with ${code}: ${written.stderr}`)));
      await Promise.race([tooEarly, vi.waitUntil(() => written.stdout.includes(text), { timeout: 20_000 })]);
      tooEarly.catch(() => undefined);
      return written.stdout;
    },
    stop(signal: StopSignal = 'SIGTERM'): Promise<number> {
      onSignal(signal);
      return ended;
    },
    result: async (): Promise<CommandResult> => ({ code: await ended, ...written }),
  };
}

/** Starts a command that runs until it is stopped. */
export const startMain = (args: readonly string[], environment: NodeJS.ProcessEnv) =>
  startHere((io) => main(args, environment, io));

/** Runs a command that needs no process of its own. */
export const runMain = (args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<CommandResult> =>
  startHere((io) => main(args, environment, io)).result();

/** The commands, which do nothing once their arguments are read. */
const idleCommands = (await allCommands()).map((command) => ({ ...command, run: () => Promise.resolve(0) }));

/** Parses the command line with all its errors, and does nothing else. */
export const readOnly = (
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  commands: readonly Command[] = idleCommands,
): Promise<CommandResult> => startHere((io) => runProgram(args, { environment, io, commands })).result();
