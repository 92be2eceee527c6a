import type { Command } from './command.ts';
import { flagName } from './flags.ts';
import { programName } from './print.ts';

const maxColumns = 100;

export function commandHelp(command: Command): readonly string[] {
  const { name, summary, details = [] } = command;
  const flags = Object.entries(command.flags);
  const positionals = Object.values(command.arguments);
  const forms = positionals.map(({ placeholder, otherwise, takesRest }) => {
    const form = otherwise === 'required' ? `<${placeholder}>` : `[${placeholder}]`;
    return takesRest ? `${form}...` : form;
  });
  const usage = [...forms, '[flags]', ...(command.runsCommand ? ['-- <COMMAND>...'] : [])].join(' ');
  return [
    `Usage: ${programName} ${name} ${usage}`,
    '',
    ...[`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...details].flatMap((line) => wrap(line)),
    ...section(
      'Arguments',
      positionals.map(({ placeholder, description }) => [placeholder, description]),
    ),
    ...section('Flags', [
      ...flags.map(([key, { placeholder, description, otherwise }]) => {
        const value = placeholder === '' ? '' : ` <${placeholder}>`;
        return [`--${flagName(key)}${value}`, `${description} (${otherwise})`] as const;
      }),
      ['-h, --help', 'show this help'],
    ]),
    ...section('Environment', command.variables ?? []),
    ...flagsHelp,
    ...exampleOf(command),
  ];
}

const flagsHelp = [
  'Flags can also be set by variables, such as WORKSPACE_SERVICE_DATA for --data.',
  'The command line takes precedence. Flags for actions that cannot be undone have no variable.',
];

/** The help of the program, or of a group of commands such as `token`. */
export function overview(group: string, commands: readonly Command[]): readonly string[] {
  const [first] = commands;
  return [
    `Usage: ${[programName, ...(group === '' ? [] : [group])].join(' ')} <command> [flags]`,
    ...(group === '' ? ['', 'Locks, syncs and build webhooks for workspaces of large binary assets.'] : []),
    ...section(
      'Commands',
      commands.map(({ name, summary }) => [name, summary]),
    ),
    ...section('Flags', [
      ...(group === '' ? ([['--version', 'show the version']] as const) : []),
      ['-h, --help', 'show this help, or the help of a command'],
    ]),
    ...(first === undefined ? [] : exampleOf(first)),
  ];
}

/** On one line, so that it can be copied. */
const exampleOf = ({ name, example }: Command): readonly string[] => [
  '',
  'Example:',
  `  ${programName} ${name} ${example}`.trimEnd(),
];

/** Terms and their descriptions, in two columns. */
function section(title: string, rows: readonly (readonly [term: string, text: string])[]) {
  const indent = Math.max(...rows.map(([term]) => term.length)) + 4;
  const lines = rows.flatMap(([term, text]) =>
    wrap(text, maxColumns - indent).map((line, index) => `${(index === 0 ? `  ${term}` : '').padEnd(indent)}${line}`),
  );
  return rows.length === 0 ? [] : ['', `${title}:`, ...lines];
}

/** Wraps a text at spaces. All lines keep its indentation. */
function wrap(text: string, width = maxColumns): readonly string[] {
  const indent = /^ */.exec(text)?.[0] ?? '';
  const line = new RegExp(`\\S.{0,${width - indent.length - 1}}(?=\\s|$)|\\S+`, 'g');
  return (text.match(line) ?? []).map((words) => indent + words.trimEnd());
}
