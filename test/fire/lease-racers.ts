import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../src/interface/resources.ts';
import type { Random } from '../support/seed.ts';
import type { LockOperation } from './linearizability/check.ts';
import { insist, longestHoldMs, longestPauseMs, noteGrant, type Race, type Settled } from './racers.ts';

const mostPaths = 3;
const waitSeconds = 2;

/** Acquires leases of contested paths, half of them in line, and ends them. */
export async function raceForLeases(race: Race, client: number, random: Random): Promise<void> {
  const { base, token, workspace, paths, traffic, book, isOver } = race;
  const note = (kind: LockOperation['kind'], { id, path, fence }: Lock, at: Pick<Settled, 'call' | 'return'>) =>
    book.operations.push({ path: `${workspace} ${path}`, client, kind, id, fence, call: at.call, return: at.return });

  async function take(lease: string, wanted: readonly string[]): Promise<readonly Lock[]> {
    const headers = random() < 1 / 2 ? { prefer: `wait=${waitSeconds}` } : undefined;
    const request = { token, json: { paths: wanted, type: 'exclusive', ttl: '1h' }, ...(headers && { headers }) };
    let taken = await insist(traffic, base, 'PUT', lease, request);
    const { call } = taken;
    // It may have been granted by any of the requests. It keeps its place until then, also after the race.
    while (taken.reply.status === 202) taken = await insist(traffic, base, 'PUT', lease, request);
    const { status, body, text } = taken.reply;
    if (status === 409) {
      for (const lock of body.locks) note('held', lock, taken);
      return [];
    }
    if (status !== 201 && status !== 200) {
      book.violations.push(`A lease of ${wanted} was answered ${status} ${text}`);
      return [];
    }
    const locks: readonly Lock[] = body.locks;
    const granted = locks.map(({ path }) => path).toSorted();
    if (granted.join() !== wanted.toSorted().join()) {
      book.violations.push(`A lease of ${wanted} was granted for ${granted}`);
    }
    for (const lock of locks) note('granted', lock, { call, return: taken.return });
    return locks;
  }

  while (!isOver()) {
    const lease = `/workspaces/${workspace}/leases/${randomUUID()}`;
    const drawn = Array.from({ length: mostPaths }, () => `Content/asset-${Math.floor(random() * paths)}.bin`);
    const locks = await take(lease, [...new Set(drawn)]);
    const grants = locks.map((lock) => noteGrant(book, lock));
    if (grants.length > 0) {
      await sleep(random() * longestHoldMs);
      for (const grant of grants) grant.releasing = true;
      const ended = await insist(traffic, base, 'DELETE', lease, { token });
      // Asked again, the service says the same.
      const released: readonly string[] = ended.reply.body?.released ?? [];
      for (const lock of locks) {
        if (released.includes(lock.path)) note('released', lock, ended);
        else book.violations.push(`The end of a lease did not release ${lock.path}: ${ended.reply.text}`);
        book.released.add(lock.id);
      }
    }
    await sleep(random() * longestPauseMs);
  }
}
