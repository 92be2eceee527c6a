import { readLine } from './line/read-line.ts';
import type { Arguments, ArgumentValues, Flags, FlagValues, Shape } from './line/shape.ts';
import type { Outside } from './outside.ts';

/** What the help tells of a command besides its flags. */
export interface Description extends Shape {
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
  readonly outside: Outside;
}

export interface Definition<F extends Flags, A extends Arguments> extends Description {
  readonly flags: F;
  readonly arguments: A;
  /** What is wrong with flags that are right one by one. */
  check?(flags: FlagValues<F>): readonly string[];
  /** Throws a Failure when it cannot be done. */
  run(call: Call<F, A>): Promise<void>;
}

export type Prepared =
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] }
  | { readonly kind: 'right'; run(outside: Outside): Promise<void> };

export interface Command extends Description {
  prepare(args: readonly string[], environment: NodeJS.ProcessEnv): Prepared;
}

/** Keeps the types of a command's flags between its definition and its work, and out of everything else. */
export function defineCommand<F extends Flags, A extends Arguments>(definition: Definition<F, A>): Command {
  return {
    ...definition,
    prepare(args, environment) {
      const line = readLine(definition, args, environment);
      if (line.kind !== 'right') return line;
      const problems = definition.check?.(line.flags) ?? [];
      if (problems.length > 0) return { kind: 'wrong', problems };
      return { kind: 'right', run: (outside) => definition.run({ ...line, environment, outside }) };
    },
  };
}
