import { versionText } from './built/version.ts';

/** Runs the command line and returns the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function main(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  // Answered first: nothing else must be loaded for it.
  if (args[0] === '--version') {
    process.stdout.write(`${versionText}\n`);
    return 0;
  }
  const command = await import('./service/cli/main.ts');
  return command.main(args, environment);
}
