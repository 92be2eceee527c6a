// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell parameters use this syntax.
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { shellWord } from '../../../interface/shell-word.ts';
import { type Command, defineCommand } from '../command.ts';
import { required } from '../flags.ts';
import { printLines } from '../output/table.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
const name = 'completion';

type Shell = (typeof shells)[number];

/** Looks up the first two words as the command, then the first word alone. */
const bash = (commands: readonly Command[]): readonly string[] => [
  ...wordsFunction(commands),
  '_workspace_service() {',
  '  local words= current=${COMP_WORDS[COMP_CWORD]}',
  '  if ((COMP_CWORD < 3)); then _workspace_service_words "${COMP_WORDS[@]:1:COMP_CWORD-1}"',
  '  else _workspace_service_words "${COMP_WORDS[@]:1:2}"; fi',
  '  if [[ -z $words ]]; then _workspace_service_words "${COMP_WORDS[1]}"; fi',
  '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
  '}',
  'complete -o default -F _workspace_service workspace-service',
];

const zsh = (commands: readonly Command[]): readonly string[] => [
  '#compdef workspace-service',
  ...wordsFunction(commands).map((line) => line.replaceAll('words=', 'next=')),
  '_workspace_service() {',
  '  local next=',
  '  if ((CURRENT < 4)); then _workspace_service_words "${(@)words[2,CURRENT-1]}"',
  '  else _workspace_service_words "${(@)words[2,3]}"; fi',
  '  if [[ -z $next ]]; then _workspace_service_words "$words[2]"; fi',
  '  compadd -- ${=next} || _files',
  '}',
  'compdef _workspace_service workspace-service',
];

const scripts: Readonly<Record<Shell, (commands: readonly Command[]) => readonly string[]>> = { bash, zsh, fish };

/** The `completion` command. It completes the given commands and itself. */
export function completionOf(commands: readonly Command[]): Command {
  const completion: Command = defineCommand({
    name,
    summary: 'print a shell completion script',
    details: [
      'bash: workspace-service completion bash >~/.local/share/bash-completion/completions/workspace-service',
      'zsh: workspace-service completion zsh >~/.zsh/_workspace-service, with that folder in fpath',
      'fish: workspace-service completion fish >~/.config/fish/completions/workspace-service.fish',
    ],
    arguments: { shell: required('SHELL', `one of ${shells.join(', ')}`, parseShell) },
    example: 'bash',
    async run({ arguments: { shell }, io }) {
      printLines(io.stdout, scripts[shell]([...commands, completion]));
    },
  });
  return completion;
}

function parseShell(text: string): Parsed<Shell> {
  const shell = shells.find((each) => each === text);
  return shell === undefined ? refused(`It must be one of ${shells.join(', ')}.`) : accepted(shell);
}

/** The shell function that bash and zsh share: it sets `words` to the possible next words. */
function wordsFunction(commands: readonly Command[]): readonly string[] {
  const groups = [...new Set(commands.map((each) => each.name.split(' ')[0] ?? ''))];
  return [
    '_workspace_service_words() {',
    '  case "$*" in',
    `    '') words=${shellWord([...groups, '--help', '--version'].join(' '))} ;;`,
    ...[...followersOf(commands)].map(
      ([beginning, next]) => `    ${shellWord(beginning)}) words=${shellWord(next.join(' '))} ;;`,
    ),
    '    *) words= ;;',
    '  esac',
    '}',
  ];
}

/** Possible next words after each prefix of a command: the second word, then the flags. */
function followersOf(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const followers = new Map<string, readonly string[]>();
  for (const command of commands) {
    const [group = '', second] = command.name.split(' ');
    if (second !== undefined) followers.set(group, [...(followers.get(group) ?? []), second]);
    const words = command.name === name ? shells : [];
    followers.set(command.name, [...words, ...Object.keys(command.flags).map((flag) => `--${flag}`), '--help']);
  }
  return followers;
}

function fish(commands: readonly Command[]): readonly string[] {
  const groups = new Set(commands.filter((each) => each.name.includes(' ')).map((each) => each.name.split(' ')[0]));
  return [
    ...[...groups].map(
      (group) =>
        `complete --command workspace-service --no-files --condition __fish_use_subcommand --arguments ${group}`,
    ),
    ...commands.flatMap(fishLines),
    `complete --command workspace-service --no-files --condition '__fish_seen_subcommand_from ${name}' --arguments '${shells.join(' ')}'`,
  ];
}

function fishLines({ name: words, summary, flags }: Command): readonly string[] {
  const [group = '', second] = words.split(' ');
  const complete = 'complete --command workspace-service';
  const isThere = (typed: readonly string[]) =>
    shellWord(typed.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and '));
  const first =
    second === undefined
      ? `${complete} --no-files --condition __fish_use_subcommand --arguments ${group} --description ${shellWord(summary)}`
      : `${complete} --no-files --condition ${isThere([group])} --arguments ${second} --description ${shellWord(summary)}`;
  const named = second === undefined ? [group] : [group, second];
  return [
    first,
    ...Object.entries(flags).map(([flag, { placeholder, what }]) => {
      const takesValue = placeholder === '' ? '' : ' --require-parameter';
      return `${complete} --condition ${isThere(named)} --long-option ${flag}${takesValue} --description ${shellWord(what)}`;
    }),
  ];
}
