import type { Command } from './command.ts';
import { commands } from './commands.ts';
import { program } from './help.ts';
import { didYouMean } from './line/nearest.ts';
import { quoted } from './output/safe-text.ts';

export type Choice =
  | { readonly kind: 'command'; readonly command: Command; readonly rest: readonly string[] }
  /** Help on the program, or on a word that several commands begin with. */
  | { readonly kind: 'group help'; readonly word: string | undefined; readonly commands: readonly Command[] }
  | { readonly kind: 'version' }
  /** `see` are the words whose help tells more. */
  | { readonly kind: 'wrong'; readonly problem: string; readonly see: string };

const asksForHelp = (word: string | undefined): boolean => word === '--help' || word === '-h' || word === 'help';

const firstWords = (): string[] => [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))];

function unknown(typed: string, names: readonly string[], see: string): Choice {
  if (typed.startsWith('-')) {
    return { kind: 'wrong', problem: `${quoted(typed)} stands where a command has to: flags come behind it.`, see };
  }
  const allowed = `The commands are ${names.join(', ')} and help.`;
  return { kind: 'wrong', problem: `${quoted(typed)} is not a command. ${didYouMean(typed, names)}${allowed}`, see };
}

function chooseOfGroup(word: string, group: readonly Command[], args: readonly string[]): Choice {
  const [second, ...rest] = args;
  if (asksForHelp(second)) return { kind: 'group help', word, commands: group };
  const names = group.map(({ name }) => name.slice(word.length + 1));
  if (second === undefined) {
    return { kind: 'wrong', problem: `"${program} ${word}" needs a command: ${names.join(', ')} or help.`, see: word };
  }
  const command = group.find(({ name }) => name === `${word} ${second}`);
  return command === undefined ? unknown(second, names, word) : { kind: 'command', command, rest };
}

/** The command that the arguments begin with. `help token create` is the same as `token create --help`. */
export function choose(args: readonly string[]): Choice {
  const [first, ...rest] = args;
  if (first === '--version') return { kind: 'version' };
  if (asksForHelp(first)) {
    const words = rest.filter((word) => !word.startsWith('-'));
    return words.length === 0 ? { kind: 'group help', word: undefined, commands } : choose([...words, '--help']);
  }
  if (first === undefined)
    return { kind: 'wrong', problem: `A command is missing: ${firstWords().join(', ')} or help.`, see: '' };
  const command = commands.find(({ name }) => name === first);
  if (command !== undefined) return { kind: 'command', command, rest };
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  return group.length > 0 ? chooseOfGroup(first, group, rest) : unknown(first, firstWords(), '');
}
