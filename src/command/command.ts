import type { Flags, FlagValues } from './flags.ts';
import { toggle } from './flags.ts';
import type { ProcessIo } from './io.ts';

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

export interface ProgramContext {
  readonly environment: NodeJS.ProcessEnv;
  readonly io: ProcessIo;
  readonly commands: readonly Command[];
}

export interface CommandContext<F extends Flags, A extends Flags> extends ProgramContext {
  readonly flags: FlagValues<F>;
  readonly arguments: FlagValues<A>;
  /** The words after `--`, for a command that runs another one. */
  readonly childCommand: readonly string[];
}

/** Parsing, help and hints follow from this. */
export interface Definition<F extends Flags, A extends Flags> {
  /** All words of the command, such as `token create`. */
  readonly name: string;
  /** Names that other programs have for it, and that no likeness of letters finds. */
  readonly otherNames?: readonly string[];
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
  /** Returns the exit code if that is not 0. */
  run(context: CommandContext<F, A>): Promise<number | undefined>;
}

export type Command = Definition<Flags, Flags> & { readonly flags: Flags; readonly arguments: Flags };

/** Passes the types of the flags from the definition of a command to `check` and `run`. */
export const defineCommand = <F extends Flags = None, A extends Flags = None>(
  definition: Definition<F, A>,
): Command => ({
  // The program calls both only with values of these flags and arguments.
  ...(definition as unknown as Definition<Flags, Flags>),
  flags: definition.flags ?? {},
  arguments: definition.arguments ?? {},
});
