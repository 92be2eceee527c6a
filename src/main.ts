import { versionText } from './built/version.ts';
import type { Command } from './command/command.ts';
import type { ProcessIo } from './command/io.ts';

/** Runs the command line and returns the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function main(args: readonly string[], environment: NodeJS.ProcessEnv, here?: ProcessIo): Promise<number> {
  // Handled first, because it needs nothing else to be loaded.
  if (args[0] === '--version') {
    process.stdout.write(`${versionText}\n`);
    return 0;
  }
  const { processIo } = await import('./command/io.ts');
  const { runProgram } = await import('./command/program.ts');
  // People, jobs and pushes wait for the `lock` commands, and loading the service would take several times as long.
  const { lockCommands } = await import('./cli/lock-commands.ts');
  const commands = args[0] === 'lock' ? lockCommands : await allCommands();
  return runProgram(args, { environment, io: here ?? processIo(), commands });
}

export async function allCommands(): Promise<readonly Command[]> {
  const { operatorCommands } = await import('./service/cli/operator-commands.ts');
  const { lockCommands } = await import('./cli/lock-commands.ts');
  return [...operatorCommands, ...lockCommands];
}
