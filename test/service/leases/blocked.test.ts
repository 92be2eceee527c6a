import { expect, test } from 'vitest';
import type { StoredLock } from '../../../src/service/locks/find.ts';
import { blockedBy } from '../../../src/service/locks/take.ts';
import { bearerOf } from '../locks/taken-locks.ts';

const paths = Array.from({ length: 2_000 }, (_, index) => `path/${index}`);
const keys = paths.map((path) => ({ workspace: 'game', path }));

test.each([
  ['in order', paths],
  ['in reverse order', paths.toReversed()],
])('few of the releases of the paths of a waiting lease, %s, cause another attempt', (_, order) => {
  const held = new Set(paths);
  const watchedPath = (): string | undefined => {
    // What the decision reads of a lock.
    const lock = { remainingMs: 1, expires_at: 0, acquired_at: 0 } as StoredLock;
    const locks = keys.flatMap((key) => (held.has(key.path) ? [[key, { ...lock, path: key.path }] as const] : []));
    const states = { lockOn: new Map(locks), keepers: new Map() };
    const request = { keys, wanted: paths.length, waitId: 'wait', bearer: bearerOf('ada') };
    return blockedBy(request, states).watched[0]?.path;
  };
  let watched = watchedPath();
  let attempts = 0;
  for (const path of order) {
    held.delete(path);
    if (path !== watched || held.size === 0) continue;
    attempts += 1;
    watched = watchedPath();
    expect(held).toContain(watched);
  }
  expect(attempts).toBeLessThan(100);
});
