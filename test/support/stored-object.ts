import { createHash } from 'node:crypto';
import { createObjectStore } from '../../src/service/lfs/object-store.ts';
import { type ObjectName, parseOid } from '../../src/service/lfs/oid.ts';
import { valueIn } from './value-in.ts';

/** The LFS name of this content. */
export const objectName = (content: Uint8Array): ObjectName => ({
  oid: valueIn(parseOid(createHash('sha256').update(content).digest('hex'))),
  size: content.length,
});

/** Stores an object as a sync would, and returns its name and path. */
export async function storeObject(dataFolder: string, workspace: string, content: Uint8Array) {
  const [store, name] = [createObjectStore(dataFolder, workspace), objectName(content)];
  const partial = await store.openPartial(name);
  await partial.write(content);
  await partial.store();
  const found = await store.find(name.oid);
  if (found === undefined) throw new Error('The object was not stored.');
  return { ...name, path: found.path };
}
