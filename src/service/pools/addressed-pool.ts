import type { Context } from 'hono';
import { Refusal } from '../contract/problem.ts';
import type { Environment } from '../http/context.ts';
import type { Storage } from '../storage/storage.ts';
import { addressedWorkspace } from '../workspaces/addressed-workspace.ts';
import { parsePoolName } from '../workspaces/workspace-id.ts';
import { findPools, noSuchPool, type StoredPool } from './pools.ts';

export async function addressedPool(c: Context<Environment>, storage: Storage): Promise<StoredPool> {
  const { id: workspace } = await addressedWorkspace(c, storage);
  const name = c.req.param('name') ?? '';
  // Invalid names are not passed to the database, which may reject some characters.
  const [pool] = parsePoolName(name).ok ? await findPools(storage.read, { workspace, name }) : [];
  if (pool === undefined) throw new Refusal('not-found', await noSuchPool(storage.read, workspace, name));
  return pool;
}
