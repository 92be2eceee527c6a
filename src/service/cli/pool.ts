import { readFile } from 'node:fs/promises';
import { type CommandContext, CommandError } from '../../command/command.ts';
import { type Flags, required } from '../../command/flags.ts';
import { quoted, textTable } from '../../command/print.ts';
import { pluralize } from '../../interface/format.ts';
import { textOf } from '../../interface/parsed.ts';
import { withoutSecrets } from '../../interface/resources.ts';
import { parsePoolItems } from '../pools/pool-item.ts';
import { findPools, noSuchPool, removePool, storePool } from '../pools/pools.ts';
import { parsePoolName } from '../workspaces/workspace-id.ts';
import { withFileErrors } from './open-storage.ts';
import { defineStorageCommand, type OperatorStorage, workspaceArgument } from './storage-command.ts';

const itemDetails = [
  'The file has the items of the pool as JSON: [{"path": "seats/1", "properties": {"serial": "A"}, "secret": ["serial"]}].',
  'Items are lock paths. Anyone who may list locks sees their properties, except for the values of secret ones: only the',
  'holder of the lock sees these.',
];

const poolArguments = {
  workspace: workspaceArgument,
  name: required('NAME', 'the name of the pool', parsePoolName),
};

const poolWithItems = { ...poolArguments, file: required('FILE', 'a file of items', textOf('the path of a file')) };

const poolAdd = defineStorageCommand({
  name: 'pool add',
  summary: 'add a pool: a name for lock paths; a job locks one that is free',
  details: itemDetails,
  arguments: poolWithItems,
  example: 'game unity-pro seats.json',
  run: (context, storage) => storeItems(context, storage, 'pool.added'),
});

const poolUpdate = defineStorageCommand({
  name: 'pool update',
  summary: 'replace the items of a pool, with their properties',
  details: [...itemDetails, 'A lock on a removed item stays until it is released or expires.'],
  arguments: poolWithItems,
  example: 'game unity-pro seats.json',
  run: (context, storage) => storeItems(context, storage, 'pool.updated'),
});

async function storeItems(
  { arguments: { workspace, name, file } }: CommandContext<Flags, typeof poolWithItems>,
  { change }: OperatorStorage,
  action: 'pool.added' | 'pool.updated',
) {
  const items = parsePoolItems(await withFileErrors(file, readFile(file, 'utf8')));
  if (!items.ok) throw new CommandError(`The items in ${quoted(file)} cannot be used. ${items.reason}`);
  const stored = await change((...by) => storePool(...by, action, { workspace, name, items: items.value }));
  if (!stored.ok) throw new CommandError(stored.reason);
  const count = pluralize(stored.value.length, 'item');
  return {
    document: { workspace, name, items: stored.value.map(withoutSecrets) },
    lines: [
      `${action === 'pool.added' ? 'Added' : 'Changed'} the pool "${name}" of the workspace "${workspace}". It has ${count}.`,
    ],
  };
}

const poolList = defineStorageCommand({
  name: 'pool list',
  summary: 'list the pools of a workspace and their items, without the values of secret properties',
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ arguments: { workspace } }, storage) {
    const found = await findPools(storage.read, workspace);
    const pools = found.map(({ name, items }) => ({ workspace, name, items: items.map(withoutSecrets) }));
    return {
      document: { pools },
      lines: textTable(
        pools.flatMap(({ name: pool, items }) =>
          items.map(({ path, properties, secret }) => {
            const hidden = Object.fromEntries(secret.map((name) => [name, '***']));
            return { pool, path, properties: { ...properties, ...hidden } };
          }),
        ),
        ['pool', 'path', 'properties'],
        `The workspace "${workspace}" has no pools yet. Add one with: workspace-service pool add ${workspace} NAME FILE`,
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

export const poolCommands = [poolAdd, poolUpdate, poolList, poolRemove];
