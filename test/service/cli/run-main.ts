import { tmpdir } from 'node:os';
import { main } from '../../../src/service/cli/main.ts';
import type { Outside } from '../../../src/service/cli/outside.ts';
import type { CommandResult } from '../../support/service-process.ts';

/** What the installed command is given in tests: nothing else of the environment they run in. */
export const commandEnvironment = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: tmpdir(),
  WORKSPACE_SERVICE_DATA: folder,
});

/** The command in this process, for what needs no process of its own. */
export async function runMain(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  let stdout = '';
  let stderr = '';
  const outside: Outside = {
    stdout: {
      write: (text) => {
        stdout += text;
      },
    },
    stderr: {
      write: (text) => {
        stderr += text;
      },
    },
    onSignal: () => () => undefined,
    endAtOnce: () => undefined,
  };
  const code = await main(args, environment, outside);
  return { code, stdout, stderr };
}
