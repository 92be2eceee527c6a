import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { quoted } from '../output/print.ts';
import type { ProcessIo } from '../output/process-io.ts';
import { type Flags, type FlagValues, flagName, toggle, variableOf } from './flags.ts';

/** An expected failure of a command. The message is written for the user and contains no secret. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  /** 2 for wrong usage that is detected only when the command runs. */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The failure of a command that a signal interrupted; `exitCode` is undefined if none did. */
export const withExitCode = (failure: unknown, exitCode: number | undefined): unknown =>
  exitCode !== undefined && failure instanceof CommandError ? new CommandError(failure.message, exitCode) : failure;

/** For commands without flags or without arguments. */
export type None = Readonly<Record<never, never>>;

export const jsonFlag = toggle('print one JSON document instead of text');

export interface CliContext {
  readonly environment: NodeJS.ProcessEnv;
  readonly io: ProcessIo;
  readonly commands: readonly Command[];
  /** The words after `--`, for a command that runs another one. */
  readonly childCommand: readonly string[];
  /** Sets the exit code of a command that succeeds. */
  setExitCode(code: number): void;
}

export interface CommandContext<F extends Flags, A extends Flags> extends CliContext {
  readonly flags: FlagValues<F>;
  readonly arguments: FlagValues<A>;
}

export interface Definition<F extends Flags, A extends Flags> {
  /** All words of the command, such as `token create`. */
  readonly name: string;
  readonly summary: string;
  readonly details?: readonly string[];
  /** Variables that it reads in addition to those of its flags, with their descriptions. */
  readonly variables?: readonly (readonly [name: string, description: string])[];
  /** Arguments and flags, without the words of the command. */
  readonly example: string;
  /** Keys are names in the code: see flagName(). */
  readonly flags?: F;
  /** In positional order. */
  readonly arguments?: A;
  /** It runs the command after `--`. */
  readonly runsCommand?: true;
  /** Checks combinations of flags and arguments. Each is valid on its own. */
  check?(flags: FlagValues<F>, values: FlagValues<A>): readonly string[];
  run(context: CommandContext<F, A>): Promise<void>;
}

/** Arguments after the words of a command, split but not parsed yet. */
export interface TypedArguments {
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly arguments: readonly string[];
}

export interface Command
  extends Pick<Definition<Flags, Flags>, 'name' | 'summary' | 'details' | 'variables' | 'example' | 'runsCommand'> {
  /** Keys are names as typed, without the dashes. */
  readonly flags: Flags;
  readonly arguments: Flags;
  /** Returns the function to run, or one line for each problem of the arguments. */
  prepare(typed: TypedArguments, context: CliContext): Parsed<() => Promise<void>>;
}

/** Passes the types of the flags from the definition of a command to `run`. */
export function defineCommand<F extends Flags = None, A extends Flags = None>(definition: Definition<F, A>): Command {
  const flags: Flags = definition.flags ?? {};
  const positionals: Flags = definition.arguments ?? {};
  return {
    ...definition,
    flags: Object.fromEntries(Object.entries(flags).map(([key, flag]) => [flagName(key), flag])),
    arguments: positionals,
    prepare(typed, context) {
      const problems: string[] = [];
      const take = (parsed: Parsed<unknown>): unknown => (parsed.ok ? parsed.value : void problems.push(parsed.reason));
      const givenFlags = Object.entries(flags).map(([key, flag]) => {
        const name = flagName(key);
        const texts = typed.flags.get(name);
        // The command line takes precedence, and an empty variable counts as unset.
        const inherited = texts === undefined && !flag.typedOnly && context.environment[variableOf(name)];
        return [key, take(inherited ? flag.read([inherited], variableOf(name)) : flag.read(texts ?? [], `--${name}`))];
      });
      const givenArguments = Object.entries(positionals).map(([key, argument], index) => {
        const texts = typed.arguments.slice(index, argument.takesRest ? undefined : index + 1);
        return [key, take(argument.read(texts, argument.placeholder))];
      });
      const takesRest = Object.values(positionals).some((argument) => argument.takesRest);
      for (const text of takesRest ? [] : typed.arguments.slice(givenArguments.length)) {
        const all = argumentNames(positionals) || 'only flags';
        problems.push(`${quoted(text)} is an unexpected argument: "${definition.name}" takes ${all}.`);
      }
      // Without problems, each name has the value of its own reader. TypeScript cannot infer this.
      const values = {
        flags: Object.fromEntries(givenFlags) as FlagValues<F>,
        arguments: Object.fromEntries(givenArguments) as FlagValues<A>,
      };
      if (problems.length === 0) problems.push(...(definition.check?.(values.flags, values.arguments) ?? []));
      if (problems.length > 0) return refused(problems.join('\n'));
      return accepted(() => definition.run({ ...values, ...context }));
    },
  };
}

/** Such as `WORKSPACE PATH`. */
const argumentNames = (positionals: Flags): string =>
  Object.values(positionals)
    .map(({ placeholder }) => placeholder)
    .join(' ');
