import { GitError } from '../git/git-error.ts';
import { databaseTrouble } from '../storage/unavailable.ts';
import { Failure } from './command.ts';
import { printLines } from './output/table.ts';
import { type ProcessIo, processIo } from './process-io.ts';
import { programName, runProgram } from './program.ts';

function explain(error: unknown): string[] {
  const isExpected = error instanceof Failure || error instanceof GitError;
  const sentence = isExpected ? error.message : databaseTrouble(error);
  if (sentence !== undefined) return [sentence];
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return ['Unexpected error. This is a fault of the service:', ...trace.split('\n')];
}

/** The whole command: gives the exit code, 0 done, 1 failed, 2 wrong usage. */
export async function main(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  io: ProcessIo = processIo(),
): Promise<number> {
  try {
    return await runProgram(args, { environment, io });
  } catch (error) {
    const [first, ...more] = explain(error);
    printLines(io.stderr, [`${programName}: ${first}`, ...more]);
    return error instanceof Failure ? error.exitCode : 1;
  }
}
