import { Command as Commander, CommanderError, Help, Option } from 'commander';
import { versionText } from '../../built/version.ts';
import type { CliContext, Command, TypedArguments } from './definition/command.ts';
import { maskSecrets } from './output/print.ts';
import { printLines } from './output/table.ts';

export interface ProgramContext extends Pick<CliContext, 'environment' | 'io'> {
  readonly commands?: readonly Command[];
}

/**
 * Returns the exit code: 2 for wrong usage, otherwise 0 or that of the command that it ran. Errors of the command are
 * rethrown.
 */
export async function runCli(all: readonly string[], context: ProgramContext): Promise<number> {
  const hint = hintFor(all);
  if (hint !== undefined) {
    printLines(context.io.stderr, [`${programName}: ${hint}`, `See: ${programName} --help`]);
    return 2;
  }
  const { commands = await commandsFor(all) } = context;
  const { args, childCommand } = splitAtCommand(all, commands);
  let exitCode = 0;
  const setExitCode = (code: number): void => {
    exitCode = code;
  };
  try {
    const program = createProgram({ ...context, commands, childCommand, setExitCode });
    await program.parseAsync(withHelpFlag(args, commands), { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

const maxColumns = 100;

export const programName = 'workspace-service';

/** People, jobs and pushes wait for these, and loading the service takes several times as long as their work. */
const loadedAlone: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['lock take', async () => (await import('./commands/lock-take.ts')).lockTake],
  ['lock extend', async () => (await import('./commands/lock-extend.ts')).lockExtend],
  ['lock ask', async () => (await import('./commands/lock-ask.ts')).lockAsk],
  ['lock list', async () => (await import('./commands/lock-list.ts')).lockList],
  ['lock release', async () => (await import('./commands/lock-release.ts')).lockRelease],
  ['lock check', async () => (await import('./commands/lock-check.ts')).lockCheck],
  ['lock run', async () => (await import('./commands/lock-run.ts')).lockRun],
]);

async function commandsFor(words: readonly string[]): Promise<readonly Command[]> {
  const load = loadedAlone.get(words.slice(0, 2).join(' '));
  return load === undefined ? (await import('./commands.ts')).commands : [await load()];
}

/** Words that other programs have for these commands, and that no likeness of letters finds. */
const otherWords: Readonly<Record<string, string>> = {
  '-v': '--version',
  version: '--version',
  start: 'serve',
  status: 'lock list',
  unlock: 'lock release',
  'lock acquire': 'lock take',
  'lock get': 'lock take',
  'lock unlock': 'lock release',
  'lock status': 'lock list',
  'lock renew': 'lock extend',
  'token add': 'token create',
  'token delete': 'token revoke',
  'token remove': 'token revoke',
  'workspace create': 'workspace add',
  'workspace delete': 'workspace remove',
};

function hintFor([first = '', second = '']: readonly string[]): string | undefined {
  const typed = [first, `${first} ${second}`].find((words) => Object.hasOwn(otherWords, words));
  return typed && `There is no command "${typed}". Did you mean ${otherWords[typed]}?`;
}

/** The arguments with `--help` only where `commander` prints the help of a command or a group for it. */
function withHelpFlag(args: readonly string[], commands: readonly Command[]): readonly string[] {
  // `help token create` and `token create help`: the `help` of `commander` takes one word, after a group.
  const words = args.filter((word) => word !== 'help');
  if (words.length < args.length && commands.some(({ name }) => name === words.join(' '))) return [...words, '--help'];
  const named = args.filter((word) => !word.startsWith('-'));
  const isKnown = commands.some(({ name }) =>
    name.split(' ').every((word, index) => [word, undefined].includes(named[index])),
  );
  // For an unknown command of a group, `commander` would print the help of the group, without an error.
  return isKnown ? args : args.filter((word) => !['-h', '--help'].includes(word));
}

/** `commander` drops the `--`, after which every word belongs to the other command, also one such as `--help`. */
function splitAtCommand(all: readonly string[], commands: readonly Command[]) {
  const runs = commands.some(
    (one) => one.runsCommand && one.name.split(' ').every((word, index) => all[index] === word),
  );
  const end = runs ? all.indexOf('--') : -1;
  return end < 0 ? { args: all, childCommand: [] } : { args: all.slice(0, end), childCommand: all.slice(end + 1) };
}

function createProgram(context: CliContext): Commander {
  const { io, commands } = context;
  const example = (name: string): string => {
    const first = commands.find((command) => command.name.startsWith(name));
    return `\nExample:\n  ${programName} ${first?.name} ${first?.example}`;
  };
  const program = new Commander(programName)
    .description('Locks, syncs and build webhooks for workspaces of large binary assets.')
    .usage('<command> [flags]')
    .version(versionText, '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help', 'show the help of a command')
    .addHelpText('after', example(''))
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError(`See: ${programName} --help`)
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => Math.min(io.stdout.columns ?? maxColumns, maxColumns),
      getErrHelpWidth: () => Math.min(io.stderr.columns ?? maxColumns, maxColumns),
      outputError: (text) => {
        const [, own] = /^error: (.*)/s.exec(text) ?? [];
        // `commander` quotes what was typed. Other errors mask it, and name forms of a URL themselves.
        const sentences = own === undefined ? text : maskSecrets(own);
        printLines(io.stderr, `${programName}: ${sentences.trimEnd()}`.split('\n'));
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
    const group = () =>
      program.commands.find((each) => each.name() === first) ??
      program
        .command(first)
        .usage('<command> [flags]')
        .addHelpText('after', example(`${first} `))
        .showHelpAfterError(`See: ${programName} ${first} --help`)
        .enablePositionalOptions();
    addCommand(second === undefined ? program : group(), command, context);
  }
  return program;
}

function addCommand(parent: Commander, command: Command, context: CliContext) {
  const { name, summary, details = [], example, arguments: positionals } = command;
  const forms = Object.values(positionals).map(({ placeholder, otherwise, takesRest }) => {
    const form = otherwise === 'required' ? `<${placeholder}>` : `[${placeholder}]`;
    return takesRest ? `${form}...` : form;
  });
  const commander = parent
    .command(name.split(' ').at(-1) ?? name)
    .usage([...forms, '[flags]', ...(command.runsCommand ? ['-- <COMMAND>...'] : [])].join(' '))
    .summary(summary)
    .description([`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...details].join('\n'))
    .addHelpText(
      'after',
      [...environmentHelp(command), '', 'Example:', `  ${programName} ${name} ${example}`].join('\n'),
    )
    .showHelpAfterError(`See: ${programName} ${name} --help`)
    .allowExcessArguments();
  for (const { placeholder, description } of Object.values(positionals))
    commander.argument(`[${placeholder}]`, description);
  const typed = collectArguments(commander, command);
  commander.action(async () => {
    const prepared = command.prepare(typed(), context);
    if (prepared.ok) await prepared.value();
    else commander.error(prepared.reason.replaceAll('\n', `\n${programName}: `));
  });
}

const flagsHelp = [
  'A variable can stand for a flag, such as WORKSPACE_SERVICE_DATA for --data.',
  'The command line comes first. What cannot be undone must be typed.',
];

function environmentHelp({ variables = [], flags }: Command): readonly string[] {
  if (Object.keys(flags).length === 0) return [];
  const width = Math.max(...variables.map(([name]) => name.length));
  const lines = variables.map(([name, description]) => `  ${name.padEnd(width)}  ${description}`);
  return ['', 'Environment:', ...lines, ...flagsHelp];
}

/**
 * `commander` only splits the arguments: its own parsers would quote secrets in errors, and count an empty variable as
 * set, and any value of the variable of a switch as true.
 */
function collectArguments(commander: Commander, { flags }: Command): () => TypedArguments {
  const texts = new Map<string, readonly string[]>();
  const add = (name: string, text: string): void => void texts.set(name, [...(texts.get(name) ?? []), text]);
  for (const [name, { placeholder, description, otherwise, takesWords, alias }] of Object.entries(flags)) {
    const take = (value: string | null | undefined): void => {
      if (value !== null) add(name, value ?? 'true');
      else commander.error(`--${name} needs a value: ${description}. Write it as --${name}=${placeholder}.`);
    };
    // Brackets make the value optional for `commander`: it then does not take the next flag for a missing value.
    const form = placeholder === '' ? `--${name}` : `--${name} [${placeholder}${takesWords ? '...' : ''}]`;
    commander.addOption(new Option(form, `${description} (${otherwise})`));
    if (alias !== undefined) {
      commander.addOption(new Option(`--${alias} [${placeholder}]`).hideHelp());
      commander.on(`option:${alias}`, take);
    }
    commander.on(`option:${name}`, take);
  }
  const parseOptions = commander.parseOptions.bind(commander);
  commander.parseOptions = (args) => {
    const { operands, unknown } = parseOptions(args);
    const [first, ...rest] = unknown;
    if (first === undefined) return { operands, unknown };
    const [typed = '', value] = first.split(/=(.*)/s);
    const name = typed.replace(/^--/, '');
    // The value of an unknown flag may be a secret, and would prevent a suggestion.
    if (value === undefined || !Object.hasOwn(flags, name)) return { operands, unknown: [typed, ...rest] };
    // `commander` does not support a switch with a value.
    add(name, value);
    const parsed = commander.parseOptions(rest);
    return { ...parsed, operands: [...operands, ...parsed.operands] };
  };
  return () => ({ flags: texts, arguments: commander.args });
}

const fullName = (command: Commander): string =>
  command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
