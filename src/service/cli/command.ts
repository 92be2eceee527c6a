import type { Parsed } from '../../interface/parsed.ts';
import { type Flags, type FlagValues, variableOf } from './flags.ts';
import { quoted } from './output/print.ts';
import type { ProcessIo } from './process-io.ts';

export interface Argument<T> {
  /** Stands for it in the usage line. */
  readonly placeholder: string;
  readonly what: string;
  readonly parse: (text: string) => Parsed<T>;
}

export type Arguments = Readonly<Record<string, Argument<unknown>>>;
export type ArgumentValues<A extends Arguments> = {
  readonly [N in keyof A]: A[N] extends Argument<infer T> ? T : never;
};

/** All that the help tells of a command. */
export interface Description<F extends Flags = Flags, A extends Arguments = Arguments> {
  /** The words, such as `token create`. */
  readonly name: string;
  readonly flags: F;
  readonly arguments: A;
  /** In one line, without a full stop. */
  readonly summary: string;
  /** More to know, a line each. */
  readonly details: readonly string[];
  /** Arguments and flags, without the words of the command. */
  readonly example: string;
}

export interface Call<F extends Flags, A extends Arguments> {
  readonly flags: FlagValues<F>;
  readonly arguments: ArgumentValues<A>;
  readonly environment: NodeJS.ProcessEnv;
  readonly io: ProcessIo;
}

export interface Definition<F extends Flags, A extends Arguments> extends Description<F, A> {
  /** What is wrong with flags that are right one by one. */
  check?(flags: FlagValues<F>): readonly string[];
  /** Throws a Failure when it cannot be done. */
  run(call: Call<F, A>): Promise<void>;
}

/** What follows the words of a command, taken apart but not read yet. */
export interface Line {
  /** Texts by flag. A flag without the value that it needs has none, and is among the problems. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly arguments: readonly string[];
  readonly problems: readonly string[];
}

export type Prepared =
  | { readonly ok: true; run(io: ProcessIo): Promise<void> }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface Command extends Description {
  prepare(line: Line, environment: NodeJS.ProcessEnv): Prepared;
}

interface Found {
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: readonly string[];
}

/** The command line wins over the environment, where an empty variable counts as none. */
function readFlags(flags: Flags, line: Line, environment: NodeJS.ProcessEnv): Found {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, flag] of Object.entries(flags)) {
    const written = line.flags.get(name);
    if (written?.length === 0) continue;
    const variable = variableOf(name);
    const inherited = written === undefined ? environment[variable] || undefined : undefined;
    const reading = inherited === undefined ? flag.read(written ?? [], `--${name}`) : flag.read([inherited], variable);
    if (reading.ok) values[name] = reading.value;
    else problems.push(...reading.problems);
  }
  return { values, problems };
}

function readArguments({ name: command, arguments: takes }: Description, line: Line): Found {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const places = Object.entries(takes);
  for (const [index, [name, { placeholder, what, parse }]] of places.entries()) {
    const text = line.arguments[index];
    if (text === undefined) {
      // It may have been taken for the value of an unknown flag.
      if (line.problems.length === 0) problems.push(`${placeholder} is missing: ${what}.`);
      continue;
    }
    const parsed = parse(text);
    if (parsed.ok) values[name] = parsed.value;
    else problems.push(`${placeholder} is ${quoted(text)}. ${parsed.why}`);
  }
  const all = places.map(([, { placeholder }]) => placeholder).join(' ') || 'only flags';
  for (const text of line.arguments.slice(places.length)) {
    problems.push(`${quoted(text)} is an unexpected argument: "${command}" takes ${all}.`);
  }
  return { values, problems };
}

/** Keeps the types of a command's flags between its definition and its work. All that is wrong is told at once. */
export function defineCommand<F extends Flags, A extends Arguments>(definition: Definition<F, A>): Command {
  return {
    ...definition,
    prepare(line, environment) {
      const readings = {
        flags: readFlags(definition.flags, line, environment),
        arguments: readArguments(definition, line),
      };
      const problems = [...line.problems, ...readings.flags.problems, ...readings.arguments.problems];
      if (problems.length > 0) return { ok: false, problems };
      // Nothing was wrong, so each name has the value that its own reader made: no type can follow that.
      const flags = readings.flags.values as FlagValues<F>;
      const values = readings.arguments.values as ArgumentValues<A>;
      const contradictions = definition.check?.(flags) ?? [];
      if (contradictions.length > 0) return { ok: false, problems: contradictions };
      return { ok: true, run: (io) => definition.run({ flags, arguments: values, environment, io }) };
    },
  };
}
