import { quoted } from '../output/safe-text.ts';
import type { Flag, Wrong } from './flag.ts';
import { type Given, takeApart } from './parts.ts';
import { type Arguments, type ArgumentValues, type Flags, type FlagValues, type Shape, variableOf } from './shape.ts';

export type Line<F extends Flags, A extends Arguments> =
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] }
  | { readonly kind: 'right'; readonly flags: FlagValues<F>; readonly arguments: ArgumentValues<A> };

interface Found {
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: readonly string[];
}

interface Source {
  readonly name: string;
  readonly texts: readonly string[];
}

/** The command line wins over the environment, where an empty variable counts as none. */
function sourceOf(name: string, given: Given, environment: NodeJS.ProcessEnv): Source {
  const texts = given.flags.get(name);
  if (texts !== undefined) return { name: `--${name}`, texts };
  const variable = variableOf(name);
  const value = environment[variable] ?? '';
  return value === '' ? { name: `--${name}`, texts: [] } : { name: variable, texts: [value] };
}

function problemWith(source: string, { secret }: Flag<unknown>, wrong: Wrong): string {
  if ('that' in wrong) return `${source} ${wrong.that}`;
  return `${source} ${secret ? 'cannot be used' : `is ${quoted(wrong.value)}`}. ${wrong.why}`;
}

function readFlags(shape: Shape, given: Given, environment: NodeJS.ProcessEnv): Found {
  const values: [string, unknown][] = [];
  const problems: string[] = [];
  for (const [name, flag] of Object.entries(shape.flags)) {
    // A flag without the value it needs has been told of already.
    if (given.flags.get(name)?.length === 0) continue;
    const source = sourceOf(name, given, environment);
    const reading = flag.read(source.texts);
    if (reading.ok) values.push([name, reading.value]);
    else problems.push(...reading.wrong.map((wrong) => problemWith(source.name, flag, wrong)));
  }
  return { values: Object.fromEntries(values), problems };
}

function readArguments(shape: Shape, texts: readonly string[]): Found {
  const values: [string, unknown][] = [];
  const problems: string[] = [];
  const places = Object.entries(shape.arguments);
  for (const [index, [name, { placeholder, what, parse }]] of places.entries()) {
    const text = texts[index];
    if (text === undefined) {
      problems.push(`${placeholder} is missing: ${what}.`);
      continue;
    }
    const parsed = parse(text);
    if (parsed.ok) values.push([name, parsed.value]);
    else problems.push(`${placeholder} is ${quoted(text)}. ${parsed.why}`);
  }
  const takes = places.map(([, { placeholder }]) => placeholder).join(' ') || 'only flags';
  for (const text of texts.slice(places.length)) {
    problems.push(`${quoted(text)} is one argument too many: "${shape.name}" takes ${takes}.`);
  }
  return { values: Object.fromEntries(values), problems };
}

/** What follows the words of a command, and the environment behind it. All that is wrong is told at once. */
export function readLine<F extends Flags, A extends Arguments>(
  shape: Shape<F, A>,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Line<F, A> {
  const given = takeApart(args, shape);
  if (given.help) return { kind: 'help' };
  const flags = readFlags(shape, given, environment);
  const places = readArguments(shape, given.arguments);
  const problems = [...given.problems, ...flags.problems, ...places.problems];
  if (problems.length > 0) return { kind: 'wrong', problems };
  return {
    kind: 'right',
    // Nothing was wrong, so each name of the shape has the value that its own reader made: no type can follow that.
    flags: flags.values as FlagValues<F>,
    arguments: places.values as ArgumentValues<A>,
  };
}
