import { maxNamedMissing } from '../../../interface/resources.ts';
import type { MissingObject } from '../../contract/schemas.ts';
import type { FetchedObjects } from '../../syncs/lfs-objects.ts';
import type { ReferencedObject } from '../pointer.ts';

const maxPathLength = 500;

/** Counts the received and missing objects of one sync, and records the time of the last progress. */
export function createTally(onProgress: (received: FetchedObjects['received']) => void) {
  const received = { objects: 0, bytes: 0 };
  const bytesOf = new Map<ReferencedObject, number>();
  const named: MissingObject[] = [];
  let missing = 0;
  let lastProgress = performance.now();

  function setReceived(object: ReferencedObject, bytes: number): void {
    const before = bytesOf.get(object) ?? 0;
    if (bytes > before) lastProgress = performance.now();
    received.bytes += bytes - before;
    bytesOf.set(object, bytes);
    onProgress(received);
  }

  return {
    setReceived,
    receivedOf: (object: ReferencedObject): number => bytesOf.get(object) ?? 0,
    stored(object: ReferencedObject): void {
      received.objects += 1;
      setReceived(object, object.size);
    },
    missing(object: ReferencedObject, detail: string): void {
      lastProgress = performance.now();
      missing += 1;
      const { path, oid, size } = object;
      if (named.length < maxNamedMissing)
        named.push({ path: path.slice(0, maxPathLength).toWellFormed(), oid, size, detail });
      setReceived(object, 0);
    },
    lastProgress: (): number => lastProgress,
    result: (): Pick<FetchedObjects, 'received' | 'missing'> => ({ received, missing: { count: missing, named } }),
  };
}
