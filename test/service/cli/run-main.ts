import { tmpdir } from 'node:os';
import { main } from '../../../src/service/cli/main.ts';
import type { ProcessIo } from '../../../src/service/cli/process-io.ts';
import { type ProgramContext, runProgram } from '../../../src/service/cli/program.ts';
import type { CommandResult } from '../../support/service-process.ts';

/** What the installed command is given in tests: nothing else of the environment they run in. */
export const commandEnvironment = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: tmpdir(),
  WORKSPACE_SERVICE_DATA: folder,
});

async function captured(
  run: (io: ProcessIo) => Promise<number>,
  columns: number | undefined,
): Promise<CommandResult & { readonly code: number }> {
  let stdout = '';
  let stderr = '';
  const code = await run({
    stdout: {
      columns,
      write: (text) => {
        stdout += text;
      },
    },
    stderr: {
      columns,
      write: (text) => {
        stderr += text;
      },
    },
    onSignal: () => () => undefined,
    endAtOnce: () => undefined,
  });
  return { code, stdout, stderr };
}

/** The command in this process, for what needs no process of its own. In a pipe, or on a terminal of so many columns. */
export const runMain = (
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  columns?: number,
): Promise<CommandResult> => captured((io) => main(args, environment, io), columns);

/** Reads the line, with all that can be wrong with it, and does nothing. */
export const readOnly = (
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  context: Pick<ProgramContext, 'commands' | 'run'> = { run: () => Promise.resolve() },
): Promise<CommandResult> => captured((io) => runProgram(args, { environment, io, ...context }), undefined);
