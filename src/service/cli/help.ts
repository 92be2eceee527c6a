import type { Command } from './command.ts';
import { type Flags, variableOf } from './line/shape.ts';

export const program = 'workspace-service';

const helpFlag: readonly [string, string] = ['-h, --help', 'show this help'];

/** Two columns, the first as wide as it needs to be. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
}

const flagRows = (flags: Flags): (readonly [string, string])[] =>
  Object.entries(flags).map(([name, { placeholder, what, otherwise }]) => [
    `--${name} ${placeholder}`.trimEnd(),
    `${what} (${otherwise}; ${variableOf(name)})`,
  ]);

export function usageOf({ name, arguments: takes }: Command): string {
  const places = Object.values(takes).map(({ placeholder }) => placeholder);
  return [program, name, ...places, '[FLAGS]'].join(' ');
}

export function commandHelp(command: Command): string[] {
  const { name, summary, details, flags, arguments: takes, example } = command;
  const places = Object.values(takes).map(({ placeholder, what }) => [placeholder, what] as const);
  return [
    `Usage: ${usageOf(command)}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...details,
    ...(places.length > 0 ? ['', 'Arguments:', ...columns(places)] : []),
    '',
    'Flags (each also as the environment variable behind it; the command line wins):',
    ...columns([...flagRows(flags), helpFlag]),
    '',
    'Environment:',
    ...columns([['DATABASE_URL', 'a PostgreSQL database, used instead of the SQLite database in --data']]),
    '',
    'Example:',
    `  ${program} ${name} ${example}`.trimEnd(),
  ];
}

/** The help of the program, or of a word that several commands begin with. */
export function groupHelp(word: string | undefined, commands: readonly Command[]): string[] {
  const prefix = word === undefined ? '' : `${word} `;
  const example = commands[0];
  return [
    `Usage: ${program} ${prefix}COMMAND [FLAGS]`,
    '',
    ...(word === undefined ? ['Locks, syncs and build webhooks for workspaces of large binary assets.', ''] : []),
    'Commands:',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    'Flags:',
    ...columns([
      ['-h, --help', 'show this help, or that of a command'],
      ...(word === undefined ? [['--version', 'show the version'] as const] : []),
    ]),
    '',
    'Example:',
    `  ${program} ${example?.name ?? ''} ${example?.example ?? ''}`.trimEnd(),
  ];
}
