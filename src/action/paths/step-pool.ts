import type { PoolItem } from '../../client/client.ts';
import { fetchPool, type Pool, type PoolSelection } from '../../locks/pool.ts';
import { InputError } from '../inputs/table.ts';
import type { TaskOf } from '../inputs/task.ts';
import { type Context, defaultLimits } from '../step/context.ts';

/** Reads the pool. Throws an InputError if it has too few items. */
export const fetchPoolOfStep = (
  context: Pick<Context, 'client' | 'clock' | 'signal' | 'connection' | 'log'>,
  { workspace, any }: Pick<TaskOf<'lock'>, 'workspace' | 'any'>,
  selection: PoolSelection,
): Promise<Pool> =>
  fetchPool(
    {
      ...context,
      optionName: (option, place) => `${place === undefined ? '' : 'Input '}\`${option}\``,
      toError: (reason) => new InputError([reason]),
    },
    { workspace, any, selection },
    defaultLimits(context),
  );

export type Properties = Readonly<Record<string, PoolItem['properties']>>;

/** The properties of locked items, by path. Masks the values of secret ones. */
export function maskedProperties(items: readonly PoolItem[], mask: Context['mask']): Properties {
  for (const { properties, secret } of items) {
    for (const value of secret.flatMap((each) => properties[each] ?? [])) {
      // As it is, and as it is in the output, which is JSON.
      for (const text of new Set([value, JSON.stringify(value).slice(1, -1)])) mask(text);
    }
  }
  return Object.fromEntries(items.map(({ path, properties }) => [path, properties]));
}
