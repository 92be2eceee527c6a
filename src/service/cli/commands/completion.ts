// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell parameters use this syntax.
import { oneOf } from '../../../interface/one-of.ts';
import { accepted } from '../../../interface/parsed.ts';
import { type Command, defineCommand } from '../definition/command.ts';
import { required, rest } from '../definition/flags.ts';

/**
 * Each script runs the command that is being completed, with `completion words` and the words before the cursor. Shells
 * pass the command as typed, with its `~`.
 */
const scripts = {
  bash: [
    '_workspace_service() {',
    '  local next; next=$("${COMP_WORDS[0]/#\\~/$HOME}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null | cut -f 1)',
    '  COMPREPLY=($(compgen -W "$next" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _workspace_service workspace-service',
  ],
  zsh: [
    '#compdef workspace-service',
    '_workspace_service() {',
    '  local next; next=$("${words[1]/#\\~/$HOME}" completion words -- "${(@)words[2,CURRENT-1]}" 2>/dev/null | cut -f 1)',
    '  compadd -- ${(f)next} || _files',
    '}',
    'compdef _workspace_service workspace-service',
  ],
  fish: [
    'function __workspace_service',
    '  set --local typed (commandline --tokenize --current-process --cut-at-cursor)',
    "  set --local program (string replace --regex '^~' $HOME -- $typed[1])",
    '  set --global __workspace_service_next ($program completion words -- $typed[2..] 2>/dev/null)',
    '  test -n "$__workspace_service_next"',
    'end',
    "complete --command workspace-service --no-files --condition __workspace_service --arguments '$__workspace_service_next'",
  ],
} as const;

/** Argument with which the scripts ask for the next words. */
const next = 'words';

const shells = ['bash', 'zsh', 'fish'] as const;
const parseShell = oneOf([...shells, next], `It must be one of ${shells.join(', ')}.`);

export const completion = defineCommand({
  name: 'completion',
  summary: 'print a shell completion script',
  details: [
    'bash: workspace-service completion bash >~/.local/share/bash-completion/completions/workspace-service',
    'zsh: workspace-service completion zsh >~/.zsh/_workspace-service, with that folder in fpath',
    'fish: workspace-service completion fish >~/.config/fish/completions/workspace-service.fish',
  ],
  arguments: {
    shell: required('SHELL', `one of ${shells.join(', ')}`, parseShell),
    typed: rest('WORD', `used by the scripts, with "${next}" as the SHELL: the words before the cursor`, accepted),
  },
  example: 'bash',
  async run({ arguments: { shell, typed }, io, commands }) {
    const lines = shell === next ? nextWords(commands, typed) : scripts[shell];
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  },
});

/** Possible next words, each with a description after a tab, as fish expects it. Empty for the value of a flag. */
function nextWords(commands: readonly Command[], typed: readonly string[]): readonly string[] {
  const command = commands.find(({ name }) => `${typed.join(' ')} `.startsWith(`${name} `));
  if (command === undefined) {
    const candidates = commands
      .map(({ name, summary }) => ({ words: name.split(' '), summary }))
      .filter(({ words }) => typed.every((word, index) => words[index] === word))
      .map(({ words, summary }) => `${words[typed.length]}${words.length - typed.length === 1 ? `\t${summary}` : ''}`);
    return [...new Set(candidates)];
  }
  if (command.flags[typed.at(-1)?.replace(/^--/, '') ?? '']?.placeholder) return [];
  return [...Object.entries(command.flags).map(([flag, { description }]) => `--${flag}\t${description}`), '--help'];
}
