import type { Parsed } from '../../../interface/parsed.ts';
import type { Flag } from './flag.ts';

export interface Argument<T> {
  /** Stands for it in the usage line. */
  readonly placeholder: string;
  readonly what: string;
  readonly parse: (text: string) => Parsed<T>;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type Arguments = Readonly<Record<string, Argument<unknown>>>;

/** What may follow the words of a command. */
export interface Shape<F extends Flags = Flags, A extends Arguments = Arguments> {
  /** The words, such as `token create`. */
  readonly name: string;
  readonly flags: F;
  readonly arguments: A;
}

export type FlagValues<F extends Flags> = { readonly [N in keyof F]: F[N] extends Flag<infer T> ? T : never };
export type ArgumentValues<A extends Arguments> = {
  readonly [N in keyof A]: A[N] extends Argument<infer T> ? T : never;
};

export const variableOf = (flag: string): string => `WORKSPACE_SERVICE_${flag.toUpperCase().replaceAll('-', '_')}`;
