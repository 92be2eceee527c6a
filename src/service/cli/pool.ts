import { readFile } from 'node:fs/promises';
import { type CommandContext, CommandError } from '../../command/command.ts';
import { type Flag, type FlagValues, optional, repeated, required } from '../../command/flags.ts';
import { quoted, textTable } from '../../command/print.ts';
import { withFileErrors } from '../../command/system-errors.ts';
import { pluralize } from '../../interface/format.ts';
import { canonicalLockPath, parseHeldPath } from '../../interface/lock-path.ts';
import { refused, textOf } from '../../interface/parsed.ts';
import { withoutSecrets } from '../../interface/resources.ts';
import { type NewPoolItem, parsePoolItems, parsePoolItemWords } from '../pools/pool-item.ts';
import { addPool, findPools, noSuchPool, removePool, type StorePool, updatePool } from '../pools/pools.ts';
import { parsePoolName, parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { defineStorageCommand, type OperatorStorage, workspaceArgument } from './storage-command.ts';

const itemFlag: Flag<readonly NewPoolItem[]> = {
  placeholder: 'ITEM',
  description: 'a lock path, and its properties as a second word: PATH NAME=VALUE,NAME=VALUE; repeatable',
  otherwise: 'default none',
  takesWords: true,
  read(texts, source) {
    const items = parsePoolItemWords(texts);
    return items.ok ? items : refused(`${source} cannot be used. ${items.reason}`);
  },
};

const itemFlags = {
  item: itemFlag,
  itemsFile: optional(
    'FILE',
    'items as JSON: [{"path": …, "properties": {…}, "secret": [names]}]',
    textOf('the path of a file'),
  ),
};

const itemDetails = [
  'Items are lock paths. Anyone who may list locks sees their properties, except for the values of secret ones: only the',
  'holder of the lock sees these. Mark them with secret:NAME=VALUE, or in --items-file, because other users can read the',
  'arguments of a process. Write a path that contains = as ./PATH.',
];

const poolArguments = {
  workspace: workspaceArgument,
  name: required('NAME', 'the name of the pool', parsePoolName),
};

const poolAdd = defineStorageCommand({
  name: 'pool add',
  summary: 'add a pool: a name for lock paths; a job locks one that is free',
  details: itemDetails,
  arguments: poolArguments,
  flags: itemFlags,
  example: 'game unity-pro --item seats/1 serial=A,host=b1 --item seats/2 serial=B,host=b2',
  check: (flags) => (hasItems(flags) ? [] : ['A pool needs items. Set --item or --items-file.']),
  run: (context, storage) => changePool(context, storage, addPool, 'Added'),
});

const poolUpdate = defineStorageCommand({
  name: 'pool update',
  summary: 'add items to a pool, replace them with their properties, or remove them',
  details: [...itemDetails, 'A lock on a removed item stays until it is released or expires.'],
  arguments: poolArguments,
  flags: {
    ...itemFlags,
    removeItem: repeated('PATH', 'the path of an item to remove; repeatable', (path) =>
      canonicalLockPath(path, parseHeldPath),
    ),
  },
  example: 'game unity-pro --item seats/3 serial=C,host=b3 --remove-item seats/1',
  check: (flags) =>
    hasItems(flags) || flags.removeItem.length > 0
      ? []
      : ['There is nothing to change. Set --item, --items-file or --remove-item.'],
  run: (context, storage) => changePool(context, storage, updatePool, 'Changed'),
});

const poolList = defineStorageCommand({
  name: 'pool list',
  summary: 'list pools and their items, without the values of secret properties',
  arguments: { workspace: optional('WORKSPACE', 'only the pools of this workspace', parseWorkspaceId, 'default all') },
  example: 'game',
  async run({ arguments: { workspace } }, storage) {
    const found = await findPools(storage.read, { workspace });
    const pools = found.map((pool) => ({ ...pool, items: pool.items.map(withoutSecrets) }));
    return {
      document: { pools },
      lines: textTable(
        pools.flatMap(({ workspace, name: pool, items }) =>
          items.map(({ path, properties, secret }) => {
            const hidden = Object.fromEntries(secret.map((name) => [name, '***']));
            return { workspace, pool, path, properties: { ...properties, ...hidden } };
          }),
        ),
        ['workspace', 'pool', 'path', 'properties'],
        'There are no pools yet. Add one with: workspace-service pool add WORKSPACE NAME --item PATH',
      ),
    };
  },
});

const poolRemove = defineStorageCommand({
  name: 'pool remove',
  summary: 'remove a pool',
  details: ['Locks on its items stay until they are released or expire.'],
  arguments: poolArguments,
  example: 'game unity-pro',
  async run({ arguments: { workspace, name } }, { read, change }) {
    const removed = await change((...by) => removePool(...by, { workspace, name }));
    if (!removed) throw new CommandError(await noSuchPool(read, workspace, name));
    return { document: { removed: name }, lines: [`Removed the pool "${name}" of the workspace "${workspace}".`] };
  },
});

type ChangeFlags = typeof itemFlags & { readonly removeItem?: Flag<readonly string[]> };

const hasItems = ({ item, itemsFile }: FlagValues<typeof itemFlags>): boolean =>
  item.length > 0 || itemsFile !== undefined;

async function changePool(
  { arguments: { workspace, name }, flags }: CommandContext<ChangeFlags, typeof poolArguments>,
  { change }: OperatorStorage,
  store: StorePool,
  done: string,
) {
  const changed = { workspace, name, items: await itemsOf(flags), removed: flags.removeItem };
  const stored = await change((...by) => store(...by, changed));
  if (!stored.ok) throw new CommandError(stored.reason);
  const items = stored.value;
  return {
    document: { workspace, name, items: items.map(withoutSecrets) },
    lines: [`${done} the pool "${name}" of the workspace "${workspace}". It has ${pluralize(items.length, 'item')}.`],
  };
}

async function itemsOf({ item, itemsFile: file }: FlagValues<typeof itemFlags>) {
  if (file === undefined) return item;
  const read = parsePoolItems(await withFileErrors(file, readFile(file, 'utf8')));
  if (!read.ok) throw new CommandError(`The items in ${quoted(file)} cannot be used. ${read.reason}`);
  return [...item, ...read.value];
}

export const poolCommands = [poolAdd, poolUpdate, poolList, poolRemove];
