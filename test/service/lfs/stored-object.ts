import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createObjectStore, type StoreOwner } from '../../../src/service/lfs/object-store.ts';
import { type ObjectName, parseOid } from '../../../src/service/lfs/pointer.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { valueIn } from '../../support/value-in.ts';

/** The LFS name of this content. */
export const objectName = (content: Uint8Array): ObjectName => ({
  oid: valueIn(parseOid(createHash('sha256').update(content).digest('hex'))),
  size: content.length,
});

/** The workspace as its object store needs it. */
export const ownerOf = ({ storage }: { readonly storage: Pick<Storage, 'read'> }, id: string): Promise<StoreOwner> =>
  storage.read.selectFrom('workspaces').select(['id', 'created_at']).where('id', '=', id).executeTakeFirstOrThrow();

/** Stores an object as a sync would, and returns its name and path. */
export async function storeObject(dataFolder: string, workspace: StoreOwner, content: Uint8Array) {
  const [store, name] = [createObjectStore(dataFolder, workspace), objectName(content)];
  const path = join(await store.folder(), name.oid.slice(0, 2), name.oid.slice(2, 4), name.oid);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return { ...name, path };
}
