import { nearest } from '../definition/did-you-mean.ts';
import { variableOf } from '../definition/flags.ts';

/** Omits the value, which may be a secret. */
export interface UnknownVariable {
  readonly variable: string;
  readonly did_you_mean: string | undefined;
}

/** Variables with the prefix of the service that belong to no flag. `flags` are names as typed, without the dashes. */
export function unknownVariables(environment: NodeJS.ProcessEnv, flags: readonly string[]): readonly UnknownVariable[] {
  const prefix = variableOf('');
  const known = new Set(flags.map((flag) => variableOf(flag).slice(prefix.length)));
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !known.has(name.slice(prefix.length)))
    .toSorted()
    .map((variable) => {
      // Compared without the common prefix.
      const meant = nearest(variable.slice(prefix.length), known);
      return { variable, did_you_mean: meant && `${prefix}${meant}` };
    });
}
