import { type CallLimits, type PoolItem, ServiceError, withRequest } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { joinFirst, pluralize } from '../../interface/words.ts';
import { InputError } from '../inputs/input-error.ts';
import type { LockTask, PoolSelection } from '../inputs/task.ts';
import { type Context, defaultLimits } from '../step/context.ts';

/** The items of a pool from which a step locks some. */
export interface Pool {
  /** Their paths when the pool was last read. */
  readonly paths: () => readonly LockPath[];
  /** Reads the pool again. If that fails, the paths stay as they were. Throws an InputError if too few are left. */
  readonly refresh: (within: CallLimits) => Promise<void>;
  /** The properties of locked items, by path. Masks the values of secret ones. Throws a ServiceError. */
  readonly propertiesOf: (locked: readonly string[], within: CallLimits) => Promise<Properties>;
}

export type Properties = Readonly<Record<string, PoolItem['properties']>>;

type PoolContext = Pick<Context, 'client' | 'clock' | 'signal' | 'connection' | 'log' | 'mask'>;

/** Reads the pool. Throws an InputError if it has too few items. */
export async function openPool(
  context: PoolContext,
  { workspace, any }: Pick<LockTask, 'workspace' | 'any'>,
  selection: PoolSelection,
): Promise<Pool> {
  const { client, log, mask } = context;
  const { name } = selection;

  async function readItems(within: CallLimits): Promise<readonly PoolItem[]> {
    const result = await client.getPool({ workspace, name }, within);
    if (result.kind === 'found') return result.items;
    const text = `Input \`pool\` is ${JSON.stringify(name)}, but the service has no pools: it needs a newer version of the Workspace service`;
    throw new InputError([withRequest(`${text}.`, result.error.request)]);
  }

  const chosen = async (within: CallLimits): Promise<readonly PoolItem[]> =>
    chooseItems(await readItems(within), any, selection);

  let items = await chosen(defaultLimits(context));
  return {
    paths: () => items.map(({ path }) => path),
    async refresh(within) {
      try {
        items = await chosen(within);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        log.debug(`The pool could not be read again: ${error.message}`);
      }
    },
    async propertiesOf(locked, within) {
      const ofLocked = (all: readonly PoolItem[]) => all.filter(({ path }) => locked.includes(path));
      const known = ofLocked(items);
      // The service shows secret values only to the holder of the lock.
      const read = known.some(({ secret }) => secret.length > 0) ? ofLocked(await readItems(within)) : known;
      for (const { properties, secret } of read) {
        for (const value of secret.flatMap((each) => properties[each] ?? [])) {
          // As it is, and as it is in the output, which is JSON.
          for (const text of new Set([value, JSON.stringify(value).slice(1, -1)])) mask(text);
        }
      }
      return Object.fromEntries(read.map(({ path, properties }) => [path, properties]));
    },
  };
}

const maxNamed = 10;

/** The items that have all wanted properties. */
export function chooseItems(
  items: readonly PoolItem[],
  any: LockTask['any'],
  { name, where }: PoolSelection,
): readonly PoolItem[] {
  const wanted = Object.entries(where);
  const right = items.filter(({ properties }) =>
    wanted.every(([property, value]) => Object.hasOwn(properties, property) && properties[property] === value),
  );
  const pool = `The pool ${JSON.stringify(name)}`;
  if (right.length === 0 && wanted.length > 0) {
    const having = wanted.map((pair) => pair.join('=')).join(' and ');
    throw new InputError([
      `Input \`where\`: no item of the pool ${JSON.stringify(name)} has ${having}. ${have(items)}`,
    ]);
  }
  if (right.length === 0) throw new InputError([`${pool} has no items.`]);
  if (any !== 'all' && any > right.length) {
    const matching = wanted.length > 0 ? ' that match `where`' : '';
    const found = joinFirst(right.map(({ path }) => path));
    throw new InputError([
      `Input \`any\` is ${any}, but the pool ${JSON.stringify(name)} has only ${pluralize(right.length, 'item')}${matching}: ${found}.`,
    ]);
  }
  return right;
}

/** A sentence with the properties by which items can be chosen. */
function have(items: readonly PoolItem[]): string {
  const pairs = items.flatMap(({ properties }) => Object.entries(properties).map((pair) => pair.join('=')));
  const names = items.flatMap(({ secret }) => secret.map((name) => `${name} (secret, so not for \`where\`)`));
  const all = [...new Set([...pairs, ...names])];
  return all.length === 0 ? 'Its items have no properties.' : `Its items have ${joinFirst(all, maxNamed)}.`;
}
