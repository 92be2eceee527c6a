import { parseArgs } from 'node:util';
import { closestNames } from '../interface/closest-name.ts';
import { accepted, type Parsed, refused } from '../interface/parsed.ts';
import { type Command, CommandError, type ProgramContext } from './command.ts';
import { type Flags, flagName, variableOf } from './flags.ts';
import { commandHelp, overview } from './help.ts';
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
  const words = splitWords(command, args);
  if (words === 'help') {
    printLines(io.stdout, commandHelp(command));
    return 0;
  }
  if (!words.ok) return refuse(context, [words.reason], command.name);
  const read = readValues(command, words.value, environment);
  if (!read.ok) return refuse(context, read.problems, command.name);
  return command.run({ ...context, ...read.values });
}

const helpFlags = ['--help', '-h'];

/** Without arguments, or with those of another program. */
function withoutCommand([first = '', ...rest]: readonly string[], context: ProgramContext): number {
  const { commands, io } = context;
  const inGroup = commands.filter(({ name }) => name.startsWith(`${first} `));
  const group = inGroup.length > 0 ? first : '';
  const [typed = ''] = inGroup.length > 0 ? rest : [first];
  if (typed === '' || helpFlags.includes(typed)) {
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

/** Split, but not parsed yet. */
interface Words {
  /** By their names in the code. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly arguments: readonly string[];
  readonly childCommand: readonly string[];
}

/** Splits the words. Reports only the first mistake, because it may change the meaning of the rest. */
function splitWords(command: Command, args: readonly string[]): Parsed<Words> | 'help' {
  const named = new Map(Object.entries(command.flags).map(([key, flag]) => [flagName(key), { key, flag }]));
  const types = [...named].map(([name, { flag }]) => [name, { type: flag.placeholder === '' ? 'boolean' : 'string' }]);
  const options = { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } };
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? args.length;
  const own = command.runsCommand ? tokens.filter(({ index }) => index < end) : tokens;
  // The parser reads a word such as -path as several one-letter flags. Its value may be a secret.
  const typed = ({ index, rawName }: { readonly index: number; readonly rawName: string }): string =>
    rawName.startsWith('--') ? rawName : (args[index] ?? rawName).replace(/=.*/s, '');
  if (own.some((token) => token.kind === 'option' && helpFlags.includes(typed(token)))) return 'help';
  const texts = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of own) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { key, flag } = named.get(token.name) ?? {};
    if (key === undefined || flag === undefined) return refused(unknownFlag(typed(token), named.keys()));
    const { value = flag.placeholder === '' ? 'true' : undefined, inlineValue } = token;
    // A following flag is not the value.
    if (value === undefined || (inlineValue === false && /^-./.test(value)))
      return refused(
        `--${token.name} needs a value: ${flag.description}. Write it as --${token.name}=${flag.placeholder}.`,
      );
    texts.set(key, [...(texts.get(key) ?? []), value]);
  }
  const childCommand = command.runsCommand ? args.slice(end + 1) : [];
  return accepted({ flags: texts, arguments: positionals, childCommand });
}

function unknownFlag(typed: string, names: Iterable<string>): string {
  const [meant] = closestNames(typed.replace(/^-+/, ''), names);
  return `There is no flag ${quoted(typed)}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`;
}

/** Reads the values of flags and arguments, and reports all wrong and missing ones at once. */
function readValues(command: Command, words: Words, environment: NodeJS.ProcessEnv) {
  const problems: string[] = [];
  const take = (parsed: Parsed<unknown>): unknown => (parsed.ok ? parsed.value : void problems.push(parsed.reason));
  const flags = Object.entries(command.flags).map(([key, flag]) => {
    const texts = words.flags.get(key);
    // The command line takes precedence, and an empty variable counts as unset.
    const inherited = texts === undefined && !flag.typedOnly && environment[variableOf(key)];
    return [
      key,
      take(inherited ? flag.read([inherited], variableOf(key)) : flag.read(texts ?? [], `--${flagName(key)}`)),
    ];
  });
  const positionals = Object.entries(command.arguments);
  const given = positionals.map(([key, argument], index) => {
    const texts = words.arguments.slice(index, argument.takesRest ? undefined : index + 1);
    return [key, take(argument.read(texts, argument.placeholder))];
  });
  const takesRest = positionals.some(([, argument]) => argument.takesRest);
  for (const text of takesRest ? [] : words.arguments.slice(positionals.length)) {
    const all = placeholders(command.arguments) || 'only flags';
    problems.push(`${quoted(text)} is an unexpected argument: "${command.name}" takes ${all}.`);
  }
  const read = { flags: Object.fromEntries(flags), arguments: Object.fromEntries(given) };
  if (problems.length === 0) problems.push(...(command.check?.(read.flags, read.arguments) ?? []));
  const values = { ...read, childCommand: words.childCommand };
  return problems.length > 0 ? ({ ok: false, problems } as const) : ({ ok: true, values } as const);
}

/** For example `WORKSPACE PATH`. */
const placeholders = (positionals: Flags): string =>
  Object.values(positionals)
    .map(({ placeholder }) => placeholder)
    .join(' ');
