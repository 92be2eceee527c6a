import { Command as Commander, CommanderError, Help, Option } from 'commander';
import type { Command, ParsedArguments } from './command.ts';
import { commands as allCommands } from './commands.ts';
import { nearest } from './did-you-mean.ts';
import { type Flags, variableOf } from './flags.ts';
import { quoted, withoutTypedSecrets } from './output/print.ts';
import { printLines } from './output/table.ts';
import { type ProcessIo, versionText } from './process-io.ts';

export interface ProgramContext {
  readonly environment: NodeJS.ProcessEnv;
  readonly io: ProcessIo;
  readonly commands?: readonly Command[];
  /** Runs a valid command. */
  readonly run?: (work: (io: ProcessIo) => Promise<void>, io: ProcessIo) => Promise<void>;
}

/** Returns the exit code: 2 for wrong usage, 0 otherwise. Errors of the command are rethrown. */
export async function runCli(args: readonly string[], context: ProgramContext): Promise<number> {
  const [first, ...words] = args;
  // Supports `help token create`: the `help` of `commander` takes one word only.
  const typed = first === 'help' && words.length > 1 ? [...words, '--help'] : args;
  try {
    await createProgram(context).parseAsync(typed, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

export const programName = 'workspace-service';

/** Parser of the command line, with help and error messages for all commands. */
function createProgram(context: ProgramContext): Commander {
  const { io, commands = allCommands } = context;
  const example = (name: string): string => {
    const first = commands.find((command) => command.name.startsWith(name));
    return `\nExample:\n  ${programName} ${first?.name} ${first?.example}`;
  };
  const program = new Commander(programName)
    .description('Locks, syncs and build webhooks for workspaces of large binary assets.')
    .usage('<command> [flags]')
    .version(versionText(), '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help', 'show the help of a command')
    .addHelpText('after', example(''))
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError(`See: ${programName} --help`)
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // In a pipe, each flag stays on one line, which suits `grep`.
      getOutHelpWidth: () => io.stdout.columns ?? Number.POSITIVE_INFINITY,
      getErrHelpWidth: () => io.stderr.columns ?? Number.POSITIVE_INFINITY,
      outputError: (text) => {
        const sentences = withoutTypedSecrets(text.replace(/^error: /, '').trimEnd());
        printLines(io.stderr, `${programName}: ${sentences}`.split('\n'));
      },
    })
    .configureHelp({
      formatHelp(commander, helper) {
        // Full commands such as `token create` in the help. Suggestions use only the first word.
        helper.visibleCommands = ({ commands }) =>
          commands.flatMap((each) => (each.commands.length > 0 ? each.commands : [each]));
        return Help.prototype.formatHelp.call(this, commander, helper);
      },
      styleTitle: (title) => (title === 'Options:' ? 'Flags:' : title),
      subcommandTerm: fullName,
      optionTerm: ({ flags }) => flags.replace(/\[(.*)\]/, '<$1>'),
      argumentTerm: (argument) => argument.name(),
    });
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ');
    const group =
      second === undefined
        ? program
        : (program.commands.find((each) => each.name() === first) ??
          program
            .command(first)
            .usage('<command> [flags]')
            .addHelpText('after', example(`${first} `))
            .showHelpAfterError(`See: ${programName} ${first} --help`)
            .enablePositionalOptions());
    addCommand(group, command, context);
  }
  return program;
}

function addCommand(
  parent: Commander,
  command: Command,
  { environment, io, run = (work) => work(io) }: ProgramContext,
): void {
  const { name, summary, details = [], example, arguments: takes } = command;
  const places = Object.values(takes).map(({ placeholder, otherwise, takesRest }) => {
    const place = otherwise === 'required' ? `<${placeholder}>` : `[${placeholder}]`;
    return takesRest ? `${place}...` : place;
  });
  const commander = parent
    .command(name.split(' ').at(-1) ?? name)
    .usage([...places, '[flags]'].join(' '))
    .summary(summary)
    .description([`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...details].join('\n'))
    .addHelpText(
      'after',
      ['', ...environmentHelp(command), '', 'Example:', `  ${programName} ${name} ${example}`].join('\n'),
    )
    .showHelpAfterError(`See: ${programName} ${name} --help`)
    .allowExcessArguments();
  const line = collectLine(commander, command);
  commander.action(async () => {
    const prepared = command.prepare(line(), environment);
    if (prepared.ok) await run(prepared.value, io);
    else commander.error(prepared.problems.join(`\n${programName}: `));
  });
}

const flagsHelp = 'A flag can also be set by the variable behind it; the command line wins.';

function environmentHelp({ variables = [] }: Command): readonly string[] {
  const width = Math.max(...variables.map(([name]) => name.length));
  const lines = variables.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`);
  return ['Environment:', ...lines, flagsHelp];
}

/**
 * `commander` stops at the first mistake. Here it only splits the arguments, and the command checks the values, so that
 * all mistakes are reported at once.
 */
function collectLine(commander: Commander, command: Command): () => ParsedArguments {
  const { flags, arguments: takes } = command;
  const texts = new Map<string, readonly string[]>();
  const problems: string[] = [];
  const add = (name: string, text: string): void => void texts.set(name, [...(texts.get(name) ?? []), text]);

  for (const [name, { placeholder, what, otherwise }] of Object.entries(flags)) {
    // Brackets make the value optional for `commander`: it then does not take the next flag for a missing value.
    const form = placeholder === '' ? `--${name}` : `--${name} [${placeholder}]`;
    commander.addOption(new Option(form, `${what} (${otherwise}; ${variableOf(name)})`));
    commander.on(`option:${name}`, (value: string | null | undefined) => {
      if (value === null) {
        problems.push(`--${name} needs a value: ${what}. Write it as --${name}=${placeholder}.`);
        texts.set(name, []);
      } else add(name, value ?? 'true');
    });
  }
  for (const { placeholder, what, takesRest } of Object.values(takes)) {
    commander.argument(`[${placeholder}${takesRest ? '...' : ''}]`, what);
  }

  const parseOptions = commander.parseOptions.bind(commander);
  commander.parseOptions = (args) => {
    if (args.length === 1 && args[0] === 'help') return { operands: [], unknown: ['--help'] };
    const literal = args.indexOf('--');
    const before = literal === -1 ? args : args.slice(0, literal);
    const rest: string[] = [];
    for (const text of before) {
      const found = switchWithValue(text, flags);
      if (found === undefined) rest.push(text);
      else add(...found);
    }
    const { operands, unknown } = parseOptions(rest);
    const strangers = unknown.filter((text) => text.startsWith('-') && text !== '-' && !isHelp(text));
    problems.unshift(...strangers.map((text) => unknownFlag(text, command)));
    return { operands: [...operands, ...args.slice(before.length + 1)], unknown: unknown.filter(isHelp) };
  };
  return () => ({ flags: texts, arguments: commander.args, problems });
}

/** Parses `--dev=false`, which `commander` does not support. */
function switchWithValue(text: string, flags: Flags): readonly [name: string, value: string] | undefined {
  const [, name = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(text) ?? [];
  return Object.hasOwn(flags, name) && flags[name]?.placeholder === '' ? [name, value] : undefined;
}

const isHelp = (text: string): boolean => text === '--help' || text === '-h';

function unknownFlag(text: string, { name, flags }: Command): string {
  const typed = text.replace(/=.*/s, '');
  const names = Object.keys(flags);
  const meant = nearest(typed.replace(/^-+/, ''), names);
  const hint =
    meant === undefined ? `Its flags are ${names.map((flag) => `--${flag}`).join(', ')}.` : `Did you mean --${meant}?`;
  return `${quoted(typed)} is not a flag of "${name}". ${hint}`;
}

const fullName = (command: Commander): string =>
  command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
