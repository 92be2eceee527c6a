import { GitError } from '../git/git-error.ts';
import { databaseTrouble } from '../storage/unavailable.ts';
import { choose } from './choose.ts';
import { Failure } from './failure.ts';
import { commandHelp, groupHelp, program } from './help.ts';
import { printLines } from './output/print.ts';
import { type Outside, thisProcess } from './outside.ts';
import { version } from './version.ts';

const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const;

function wrongUsage({ stderr }: Outside, problems: readonly string[], words: string): number {
  const see = [program, words, '--help'].filter((word) => word !== '').join(' ');
  printLines(stderr, [...problems.map((problem) => `${program}: ${problem}`), `See: ${see}`]);
  return exitCodes.wrongUsage;
}

function failed({ stderr }: Outside, error: unknown): number {
  const told = error instanceof Failure || error instanceof GitError;
  const sentence = told ? error.message : databaseTrouble(error);
  if (sentence !== undefined) {
    printLines(stderr, [`${program}: ${sentence}`]);
    return exitCodes.failed;
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  printLines(stderr, [`${program}: This went wrong in a way that was not foreseen:`, ...trace.split('\n')]);
  return exitCodes.failed;
}

/** The whole command: gives the exit code, 0 done, 1 failed, 2 wrong usage. */
export async function main(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  outside: Outside = thisProcess(),
): Promise<number> {
  const choice = choose(args);
  switch (choice.kind) {
    case 'version':
      printLines(outside.stdout, [version()]);
      return exitCodes.done;
    case 'group help':
      printLines(outside.stdout, groupHelp(choice.word, choice.commands));
      return exitCodes.done;
    case 'wrong':
      return wrongUsage(outside, [choice.problem], choice.see);
    case 'command':
      break;
  }
  const { command, rest } = choice;
  const prepared = command.prepare(rest, environment);
  switch (prepared.kind) {
    case 'help':
      printLines(outside.stdout, commandHelp(command));
      return exitCodes.done;
    case 'wrong':
      return wrongUsage(outside, prepared.problems, command.name);
    case 'right':
      try {
        await prepared.run(outside);
        return exitCodes.done;
      } catch (error) {
        return failed(outside, error);
      }
  }
}
