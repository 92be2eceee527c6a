import { type Flags, type FlagValues, flagName, type Reading, variableOf } from './flags.ts';
import { quoted } from './output/print.ts';
import type { ProcessIo } from './process-io.ts';

/** An expected failure of a command. The message is written for the user and contains no secret. */
export class CommandError extends Error {
  override readonly name = 'Failure';
  readonly exitCode: 1 | 2;

  /** 2 for wrong usage that is detected only when the command runs. */
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** For commands without flags or without arguments. */
export type None = Readonly<Record<never, never>>;

export interface CommandContext<F extends Flags, A extends Flags> {
  readonly flags: FlagValues<F>;
  readonly arguments: FlagValues<A>;
  readonly environment: NodeJS.ProcessEnv;
  readonly io: ProcessIo;
}

export interface Definition<F extends Flags, A extends Flags> {
  /** All words of the command, such as `token create`. */
  readonly name: string;
  /** One line, without a period at the end. */
  readonly summary: string;
  /** Further lines of the help. */
  readonly details?: readonly string[];
  /** Variables that it reads in addition to those of its flags, with their descriptions. */
  readonly variables?: readonly (readonly [name: string, what: string])[];
  /** Arguments and flags, without the words of the command. */
  readonly example: string;
  /** Keys are names in the code: see flagName(). */
  readonly flags?: F;
  /** In positional order. */
  readonly arguments?: A;
  /** Checks combinations of flags. Each flag is valid on its own. */
  check?(flags: FlagValues<F>): readonly string[];
  /** Throws a CommandError for an expected failure. */
  run(call: CommandContext<F, A>): Promise<void>;
}

/** Arguments after the words of a command, split but not parsed yet. */
export interface ParsedArguments {
  /** Texts by flag. A flag whose value is missing has an empty list and an entry in `problems`. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly arguments: readonly string[];
  readonly problems: readonly string[];
}

export interface Command
  extends Pick<Definition<Flags, Flags>, 'name' | 'summary' | 'details' | 'variables' | 'example'> {
  /** Keys are names as typed, without the dashes. */
  readonly flags: Flags;
  readonly arguments: Flags;
  /** Returns the function to run, or all problems of the arguments. */
  prepare(line: ParsedArguments, environment: NodeJS.ProcessEnv): Reading<(io: ProcessIo) => Promise<void>>;
}

/** Passes the types of the flags from the definition of a command to `run`. Reports all mistakes at once. */
export function defineCommand<F extends Flags = None, A extends Flags = None>(definition: Definition<F, A>): Command {
  const flags: Flags = definition.flags ?? {};
  const takes: Flags = definition.arguments ?? {};
  return {
    ...definition,
    flags: Object.fromEntries(Object.entries(flags).map(([key, flag]) => [flagName(key), flag])),
    arguments: takes,
    prepare(line, environment) {
      const problems = [...line.problems];
      function take(values: Record<string, unknown>, key: string, reading: Reading<unknown> | undefined): void {
        if (reading?.ok) values[key] = reading.value;
        else problems.push(...(reading?.problems ?? []));
      }
      const given: Record<string, unknown> = {};
      for (const [key, flag] of Object.entries(flags))
        take(given, key, readFlag(flagName(key), flag, line, environment));
      const places = Object.values(takes).map(({ placeholder }) => placeholder);
      const values: Record<string, unknown> = {};
      for (const [index, [key, argument]] of Object.entries(takes).entries()) {
        const texts = line.arguments.slice(index, argument.takesRest ? undefined : index + 1);
        // A missing argument may have been parsed as the value of an unknown flag.
        const isUnanswered = texts.length === 0 && line.problems.length > 0;
        take(values, key, isUnanswered ? undefined : argument.read(texts, argument.placeholder));
      }
      const takesRest = Object.values(takes).some((argument) => argument.takesRest);
      for (const text of takesRest ? [] : line.arguments.slice(places.length)) {
        const all = places.join(' ') || 'only flags';
        problems.push(`${quoted(text)} is an unexpected argument: "${definition.name}" takes ${all}.`);
      }
      // Without problems, each name has the value of its own reader. TypeScript cannot infer this.
      const call = { flags: given as FlagValues<F>, arguments: values as FlagValues<A> };
      if (problems.length === 0) problems.push(...(definition.check?.(call.flags) ?? []));
      if (problems.length > 0) return { ok: false, problems };
      return { ok: true, value: (io) => definition.run({ ...call, environment, io }) };
    },
  };
}

/** Undefined if a flag lacks its value. The command line takes precedence, and an empty variable counts as unset. */
function readFlag(
  name: string,
  flag: Flags[string],
  line: ParsedArguments,
  environment: NodeJS.ProcessEnv,
): Reading<unknown> | undefined {
  const typed = line.flags.get(name);
  if (typed !== undefined) return typed.length === 0 ? undefined : flag.read(typed, `--${name}`);
  const inherited = environment[variableOf(name)] || undefined;
  return inherited === undefined ? flag.read([], `--${name}`) : flag.read([inherited], variableOf(name));
}
