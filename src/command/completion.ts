// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell parameters use this syntax.
import { type Command, defineCommand } from './command.ts';
import { flagName } from './flags.ts';
import { printLines } from './print.ts';

export const completion = defineCommand({
  name: 'completion',
  summary: 'print a script with which bash and zsh complete commands and flags',
  details: [
    'bash: workspace-service completion >~/.local/share/bash-completion/completions/workspace-service',
    'zsh: autoload -Uz bashcompinit && bashcompinit && eval "$(workspace-service completion)"',
  ],
  example: '',
  async run({ io, commands }) {
    printLines(io.stdout, [
      '_workspace_service() {',
      '  local next=',
      '  case "${COMP_WORDS[*]:1:$((COMP_CWORD - 1))} " in',
      ...casesOf(commands).map(([typed, next]) => `    ${typed}) next='${next.join(' ')}' ;;`),
      '  esac',
      '  COMPREPLY=($(compgen -W "$next" -- "${COMP_WORDS[COMP_CWORD]}"))',
      '}',
      'complete -o default -F _workspace_service workspace-service',
    ]);
  },
});

/** The next words for the words before the cursor. */
function casesOf(commands: readonly Command[]): readonly (readonly [typed: string, next: readonly string[]])[] {
  const groups = Map.groupBy(commands, ({ name }) => name.split(' ')[0] ?? '');
  const second = [...groups].map(
    ([first, all]) => [first, all.flatMap(({ name }) => name.split(' ')[1] ?? [])] as const,
  );
  return [
    ...commands.map(
      ({ name, flags }) => [`'${name} '*`, Object.keys(flags).map((key) => `--${flagName(key)}`)] as const,
    ),
    ...second.map(([first, next]) => [`'${first} '`, next] as const),
    ["' '", [...groups.keys()]],
  ];
}
