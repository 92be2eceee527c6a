import { closestNames } from '../interface/closest-name.ts';
import { type Command, CommandError, type ProgramContext } from './command.ts';
import { commandHelp, overview } from './help.ts';
import { readArguments } from './parse.ts';
import { printLines, programName, quoted } from './print.ts';

/** Runs the command line and returns the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function runProgram(args: readonly string[], context: ProgramContext): Promise<number> {
  try {
    const words = args[0] === 'help' ? [...args.slice(1), '--help'] : args;
    const command = context.commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
    return command === undefined ? withoutCommand(words, context) : await runCommand(command, words, context);
  } catch (error) {
    const isExpected = error instanceof CommandError;
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const text = isExpected ? error.message : `Internal error. This is a bug: report it with this trace.\n${trace}`;
    printLines(context.io.stderr, `${programName}: ${text}`.split('\n'));
    return isExpected ? error.exitCode : 1;
  }
}

async function runCommand(command: Command, all: readonly string[], context: ProgramContext): Promise<number> {
  const { io, environment } = context;
  const args = all.slice(command.name.split(' ').length);
  const read = readArguments(command, args, environment);
  if (read === 'help') {
    printLines(io.stdout, commandHelp(command));
    return 0;
  }
  if ('problems' in read) return refuse(context, read.problems, command.name);
  return command.run({ ...context, ...read.values });
}

const helpWords = ['help', '--help', '-h'];

/** Without arguments, or with those of another program. */
function withoutCommand([first = '', ...rest]: readonly string[], context: ProgramContext): number {
  const { commands, io } = context;
  const inGroup = commands.filter(({ name }) => name.startsWith(`${first} `));
  const group = inGroup.length > 0 ? first : '';
  const [typed = ''] = inGroup.length > 0 ? rest : [first];
  if (typed === '' || helpWords.includes(typed)) {
    printLines(typed === '' ? io.stderr : io.stdout, overview(group, inGroup.length > 0 ? inGroup : commands));
    return typed === '' ? 2 : 0;
  }
  const asked = `${group} ${typed}`.trim();
  const meant = commandFor(asked, group, commands);
  const suggestion = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return refuse(context, [`There is no command ${quoted(asked)}.${suggestion}`], group);
}

function commandFor(asked: string, group: string, commands: readonly Command[]): string | undefined {
  const prefix = group === '' ? '' : `${group} `;
  const names = commands.filter(({ name }) => name.startsWith(prefix)).map(({ name }) => name.slice(prefix.length));
  const [meant] = closestNames(asked.slice(prefix.length), new Set(names.map((name) => name.replace(/ .*/, ''))));
  return meant && `${prefix}${meant}`;
}

function refuse({ io }: ProgramContext, problems: readonly string[], command: string): number {
  const see = ['See:', programName, ...(command === '' ? [] : [command]), '--help'].join(' ');
  printLines(io.stderr, [...problems.map((problem) => `${programName}: ${problem}`), see]);
  return 2;
}
