import { type Flags, type FlagValues, toggle } from './flags.ts';
import type { ProcessIo } from './io.ts';
import { printJson, printLines } from './print.ts';

/** An expected failure of a command. The message is for the user, and contains no secrets. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  /** 2 is for wrong usage that is detected only when the command runs. */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The failure of a command that a signal interrupted. `exitCode` is undefined if none did. */
export const withExitCode = (failure: unknown, exitCode: number | undefined): unknown =>
  exitCode !== undefined && failure instanceof CommandError ? new CommandError(failure.message, exitCode) : failure;

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

/** The result of a command. It may also print while it runs. */
interface CommandOutput {
  /** Printed instead of the lines with `--json`. */
  readonly document?: unknown;
  readonly lines?: readonly string[];
  /** Printed last. The command then fails. */
  readonly failure?: string | undefined;
  readonly exitCode?: number;
}

/** Parsing, help and hints are derived from this. `Opened` is the resource that the command works on. */
export interface Definition<F extends Flags, A extends Flags, Opened = undefined> {
  /** All words of the name, such as `token create`. */
  readonly name: string;
  readonly summary: string;
  readonly details?: readonly string[];
  /** Variables that the command reads in addition to those of its flags, with descriptions. */
  readonly variables?: Variables;
  /** Arguments and flags, without the name of the command. */
  readonly example: string;
  /** In positional order. */
  readonly arguments?: A;
  /** Whether it runs the command after `--`. */
  readonly runsCommand?: true;
  /** Checks combinations of flags and arguments. Each of them has already been checked on its own. */
  check?(flags: FlagValues<F>, values: FlagValues<A>): readonly string[];
  run(context: CommandContext<F, A>, opened: Opened): Promise<CommandOutput | undefined>;
}

type Variables = readonly (readonly [name: string, description: string])[];

export interface Command extends Omit<Definition<Flags, Flags>, 'run'> {
  readonly flags: Flags;
  readonly arguments: Flags;
  /** Returns the exit code. */
  run(context: CommandContext<Flags, Flags>): Promise<number>;
}

/** Opens a resource, calls `work` with it, closes it, and returns the result. */
type Around<F extends Flags, Opened> = (
  context: CommandContext<F, Flags>,
  work: (opened: Opened) => Promise<number>,
) => Promise<number>;

/** For commands without flags or without arguments. */
type None = Readonly<Record<never, never>>;

/** Defines commands of one kind. They share some flags, and work on the same resource. */
export const commandKind =
  <Common extends Flags, Opened>(common: Common, variables: Variables, around: Around<Common, Opened>) =>
  <F extends Flags = None, A extends Flags = None>({
    flags,
    run,
    ...definition
  }: Definition<F & Common, A, Opened> & {
    /** Keys are names in the code: see flagName(). */
    readonly flags?: F;
  }): Command => ({
    variables,
    // The program calls `check` and `run` only with values of these flags and arguments.
    ...(definition as Omit<Definition<Flags, Flags>, 'run'>),
    flags: { ...flags, ...common },
    arguments: definition.arguments ?? {},
    run: (context) =>
      around(context as CommandContext<Common, Flags>, async (opened) =>
        printOutput(context, await run(context as CommandContext<F & Common, A>, opened)),
      ),
  });

export const defineCommand = commandKind({}, [], (_context, work) => work(undefined));

/** Returns the exit code. */
function printOutput(
  { io, flags }: CommandContext<Flags, Flags>,
  { document, lines = [], failure, exitCode = 0 }: CommandOutput = {},
): number {
  if (flags['json'] === true && document !== undefined) printJson(io.stdout, document);
  else printLines(io.stdout, lines);
  if (failure !== undefined) throw new CommandError(failure);
  return exitCode;
}
