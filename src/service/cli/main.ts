import { GitError } from '../git/git-error.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { CommandError } from './definition/command.ts';
import { processIo } from './output/process-io.ts';
import { printLines } from './output/table.ts';
import { programName, runCli } from './program.ts';

/** Runs the command line and returns the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function main(args: readonly string[], environment: NodeJS.ProcessEnv, io = processIo()) {
  try {
    return await runCli(args, { environment, io });
  } catch (error) {
    const [first, ...more] = explain(error);
    printLines(io.stderr, [`${programName}: ${first}`, ...more]);
    return error instanceof CommandError ? error.exitCode : 1;
  }
}

function explain(error: unknown): string[] {
  const isExpected = error instanceof CommandError || error instanceof GitError;
  const sentence = isExpected ? error.message : databaseProblem(error);
  if (sentence !== undefined) return [sentence];
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return ['Unexpected error. This is a bug in the service:', ...trace.split('\n')];
}
