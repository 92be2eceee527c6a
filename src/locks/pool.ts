import { type CallLimits, type PoolItem, type WorkspaceId, withRequest } from '../client/client.ts';
import { joinFirst, pluralize } from '../interface/format.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../interface/parsed.ts';
import { withoutSecrets } from '../interface/resources.ts';
import type { LockContext } from './context.ts';
import { type Grant, soonestExpiry } from './ledger/entry.ts';

/** The items of a pool that have all these properties. */
export interface PoolSelection {
  readonly kind: 'pool';
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
}

/** The selected items of a pool. Some of them are to be locked. */
export type Pool = Awaited<ReturnType<typeof fetchPool>>;

/** The name of an option in a text: an input of a step, or a flag of a command. */
type OptionName = (option: 'pool' | 'any' | 'where', place?: 'start of a sentence') => string;

interface PoolContext extends Pick<LockContext, 'client' | 'clock' | 'signal'> {
  readonly optionName: OptionName;
  /** Makes an error that says why the pool cannot be used. */
  readonly toError: (reason: string) => Error;
}

/** Reads the pool. Throws a refusal if it has too few items, and a ServiceError. */
export async function fetchPool(
  { client, clock, signal, optionName, toError }: PoolContext,
  { workspace, any, selection }: { workspace: WorkspaceId; any: number | 'all'; selection: PoolSelection },
  firstLimits: CallLimits,
) {
  const { name } = selection;

  async function readItems(within: CallLimits): Promise<readonly PoolItem[]> {
    const result = await client.getPool({ workspace, name }, within);
    if (result.kind === 'found') return result.items;
    const text = `${optionName('pool', 'start of a sentence')} is ${JSON.stringify(name)}, but the service has no pools: it needs a newer version of the Workspace service`;
    throw toError(withRequest(`${text}.`, result.error.request));
  }

  async function readSelected(within: CallLimits): Promise<readonly PoolItem[]> {
    // The holder of one item reads its secrets, which must not appear in texts about the pool.
    const right = chooseItems((await readItems(within)).map(withoutSecrets), any, selection, optionName);
    if (!right.ok) throw toError(right.reason);
    return right.value;
  }

  const items = await readSelected(firstLimits);
  return {
    /** Their paths when the pool was first read. */
    paths: pathsOf(items),
    /** The items of these locks, with the values of secret properties. Throws a ServiceError. */
    async itemsOf(grants: readonly Grant[]): Promise<readonly PoolItem[]> {
      const locked = new Set(grants.map(({ path }) => path));
      const lockedItems = (all: readonly PoolItem[]) => all.filter(({ path }) => locked.has(path));
      const known = lockedItems(items);
      // The pool may have grown during the wait.
      if (known.length === locked.size && known.every(({ secret }) => secret.length === 0)) return known;
      // The service shows secret values only to the holder of the lock.
      return lockedItems(await readItems({ deadline: clock() + readLimitMs(grants, client.serverNow()), signal }));
    },
  };
}

/** The items that have all wanted properties, or the reason why there are too few. */
export function chooseItems(
  items: readonly PoolItem[],
  any: number | 'all',
  { name, where }: PoolSelection,
  optionName: OptionName,
): Parsed<readonly PoolItem[]> {
  const wanted = Object.entries(where);
  const matching = items.filter(({ properties }) =>
    wanted.every(([property, value]) => Object.hasOwn(properties, property) && properties[property] === value),
  );
  const pool = `pool ${JSON.stringify(name)}`;
  if (matching.length === 0 && wanted.length > 0) {
    const having = wanted.map((pair) => pair.join('=')).join(' and ');
    const option = optionName('where', 'start of a sentence');
    return refused(`${option}: no item of the ${pool} has ${having}. ${propertiesText(items, optionName)}`);
  }
  if (matching.length === 0) return refused(`The ${pool} has no items.`);
  if (any !== 'all' && any > matching.length) {
    const condition =
      wanted.length > 0 ? ` that ${matching.length === 1 ? 'matches' : 'match'} ${optionName('where')}` : '';
    const found = joinFirst(pathsOf(matching));
    const option = optionName('any', 'start of a sentence');
    return refused(
      `${option} is ${any}, but the ${pool} has only ${pluralize(matching.length, 'item')}${condition}: ${found}.`,
    );
  }
  return accepted(matching);
}

const maxNamed = 10;

/** A sentence with the properties by which items can be chosen. */
function propertiesText(items: readonly PoolItem[], optionName: OptionName): string {
  const pairs = items.flatMap(({ properties }) => Object.entries(properties).map((pair) => pair.join('=')));
  const names = items.flatMap(({ secret }) =>
    secret.map((name) => `${name} (secret, so not for ${optionName('where')})`),
  );
  const all = [...new Set([...pairs, ...names])];
  return all.length === 0 ? 'Its items have no properties.' : `Its items have ${joinFirst(all, maxNamed)}.`;
}

const maxReadMs = 30_000;

/** The time to read the properties of locked items, before the first of the locks expires. */
function readLimitMs(grants: readonly Grant[], now: number): number {
  const left = soonestExpiry(grants.map(({ lock }) => lock)) - now;
  return Number.isNaN(left) ? maxReadMs : Math.min(maxReadMs, left);
}

const pathsOf = (items: readonly PoolItem[]): readonly LockPath[] => items.map(({ path }) => path);
