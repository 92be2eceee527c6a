import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../src/service/contract/schemas.ts';
import type { Repository } from '../support/git-repository.ts';
import { type Ask, ask, type Reply } from '../support/running-service.ts';
import type { Random } from '../support/seed.ts';
import type { LockOperation } from './linearizability/check.ts';

/** Clients of several instances, whose responses get lost, and their certain knowledge. */

interface Settled {
  readonly reply: Reply;
  /** The request took effect between these two times, in milliseconds since 1970. */
  readonly call: number;
  readonly return: number;
  /** The number of earlier attempts with a lost response, which may have taken effect. */
  readonly lost: number;
}

/** Counts of all requests of a run. */
interface Traffic {
  requests: number;
  lostAnswers: number;
  /** The number of unanswered attempts that had taken effect, as their keys proved. */
  proven: number;
}

const attemptMs = 20_000;
const timeoutMs = 120_000;

/** A response that leaves the outcome open, or reports an earlier attempt in progress. */
const isOpen = ({ status, body }: Reply): boolean =>
  status >= 500 || (status === 409 && body?.type?.endsWith(':request-in-progress') === true);

/** Sends a request, and repeats it unchanged until its outcome is known. */
export async function insist(
  traffic: Traffic,
  base: string,
  method: string,
  path: string,
  request: Ask,
): Promise<Settled> {
  const until = performance.now() + timeoutMs;
  const call = Date.now();
  for (let lost = 0; ; lost += 1) {
    traffic.requests += 1;
    let reason: string;
    const askedAt = Date.now();
    try {
      const reply = await ask(base, method, path, { ...request, signal: AbortSignal.timeout(attemptMs) });
      // An earlier attempt, whose response was lost, has acquired this lock.
      if (reply.status === 201 && Date.parse(reply.body?.acquired_at) < askedAt - roundingMs) traffic.proven += 1;
      if (!isOpen(reply)) return { reply, lost, call, return: Date.now() + 1 };
      reason = `${reply.status} ${reply.text}`;
    } catch (error) {
      reason = String(error);
    }
    traffic.lostAnswers += 1;
    if (performance.now() > until) throw new Error(`${method} ${path} has had no answer for too long: ${reason}`);
    await sleep(100);
  }
}

/** The knowledge of the clients, and the wrong responses that they got. */
interface Book {
  /** The ids of the granted locks. */
  readonly grants: Set<string>;
  readonly violations: string[];
  /** Operations in any order. */
  readonly operations: LockOperation[];
}

export const emptyBook = (): Book => ({ grants: new Set(), violations: [], operations: [] });

/** The database rounds its clock to milliseconds. */
const roundingMs = 2;

function noteGrant({ grants, violations }: Book, lock: Lock): void {
  if (grants.has(lock.id)) violations.push(`${lock.id} on ${lock.path} was given to two clients.`);
  grants.add(lock.id);
}

export interface Race {
  /** The base URL of the balancer, with `/v1`. */
  readonly base: string;
  readonly token: string;
  readonly workspace: string;
  readonly paths: number;
  readonly traffic: Traffic;
  readonly book: Book;
  readonly isOver: () => boolean;
}

/** One lock in this number is short, and left to expire. */
const leftToExpire = 8;

const longestHoldMs = 400;
const longestPauseMs = 200;

/** Acquires locks on contested paths, and releases them or lets them expire. */
export async function raceForLocks(race: Race, client: number, random: Random): Promise<void> {
  const { base, token, workspace, paths, traffic, book, isOver } = race;
  const locks = `/workspaces/${workspace}/locks`;
  const note = (kind: LockOperation['kind'], { id, path, fence }: Lock, at: Pick<LockOperation, 'call' | 'return'>) =>
    book.operations.push({ path: `${workspace} ${path}`, client, kind, id, fence, call: at.call, return: at.return });
  while (!isOver()) {
    const path = `Content/asset-${Math.floor(random() * paths)}.bin`;
    const expires = random() < 1 / leftToExpire;
    const taken = await insist(traffic, base, 'POST', locks, {
      token,
      headers: { 'idempotency-key': randomUUID() },
      json: { path, type: 'exclusive', ttl: expires ? '1s' : '1h' },
    });
    if (taken.reply.status === 201) {
      const lock: Lock = taken.reply.body;
      noteGrant(book, lock);
      note('granted', lock, taken);
      const expiresAt = Date.parse(lock.expires_at);
      if (expires) note('expired', lock, { call: expiresAt - roundingMs, return: expiresAt + roundingMs });
      await sleep(random() * longestHoldMs);
      if (!expires) {
        const { id } = lock;
        const released = await insist(traffic, base, 'DELETE', `${locks}/${encodeURIComponent(path)}`, {
          token,
          headers: { 'if-match': `"${id}"` },
        });
        const { status, text } = released.reply;
        // After a lost response, the lock may be released already, or belong to someone else.
        const allowed = released.lost === 0 ? [204] : [204, 404, 412];
        if (!allowed.includes(status))
          book.violations.push(`The release of ${id} on ${path} was answered ${status} ${text}`);
        note(released.lost === 0 ? 'released' : 'released-or-gone', lock, released);
      }
    } else if (taken.reply.status === 409) {
      const { lock, type } = taken.reply.body;
      // A free path is kept for a lease that waits for it.
      if (lock !== undefined) note('held', lock, taken);
      else if (!type.endsWith(':locked')) book.violations.push(`${path} was refused with ${taken.reply.text}`);
    } else {
      book.violations.push(`A lock on ${path} was answered ${taken.reply.status} ${taken.reply.text}`);
    }
    await sleep(random() * longestPauseMs);
  }
}

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
    for (const lock of locks) noteGrant(book, lock);
    if (locks.length > 0) {
      await sleep(random() * longestHoldMs);
      const ended = await insist(traffic, base, 'DELETE', lease, { token });
      // Asked again, the service says the same.
      const released: readonly string[] = ended.reply.body?.released ?? [];
      for (const lock of locks) {
        if (released.includes(lock.path)) note('released', lock, ended);
        else book.violations.push(`The end of a lease did not release ${lock.path}: ${ended.reply.text}`);
      }
    }
    await sleep(random() * longestPauseMs);
  }
}

export const branches = ['main', 'art', 'code'];

const everyMs = 300;
const syncPatienceMs = 150_000;

async function trigger({ traffic, base, token, workspace }: Race, branch: string): Promise<string> {
  const { reply } = await insist(traffic, base, 'POST', `/workspaces/${workspace}/sync`, {
    token,
    headers: { 'idempotency-key': randomUUID() },
    json: { branch },
  });
  if (reply.status !== 202) throw new Error(`A sync of ${branch} was answered ${reply.status} ${reply.text}`);
  return reply.body.sync_id;
}

/** Pushes to the remote and triggers syncs until the race ends; returns the ids of the syncs. */
export async function triggerSyncs(race: Race, remote: Repository, random: Random): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let turn = 0; !race.isOver(); turn += 1) {
    const branch = branches[Math.floor(random() * branches.length)] ?? 'main';
    if (turn % 5 === 0) remote.commit({ branch, files: { [`file-${turn % 7}`]: `${turn}` } });
    ids.add(await trigger(race, branch));
    await sleep(everyMs);
  }
  return ids;
}

interface EndedSync {
  readonly id: string;
  readonly status: string;
  readonly head: string | null;
  readonly error: string | null;
}

/** Waits until a sync has ended; returns it unfinished after a timeout. */
export async function awaitSync({ traffic, base, token, workspace }: Race, id: string): Promise<EndedSync> {
  const until = performance.now() + syncPatienceMs;
  for (;;) {
    const { reply } = await insist(traffic, base, 'GET', `/workspaces/${workspace}/syncs/${id}`, { token });
    const { status, head, error } = reply.body;
    if (status === 'succeeded' || status === 'failed' || performance.now() > until) return { id, status, head, error };
    await sleep(250);
  }
}

/** Syncs each branch once more, to show that all instances together still work. */
export const syncAll = (race: Race): Promise<EndedSync[]> =>
  Promise.all(branches.map(async (branch) => awaitSync(race, await trigger(race, branch))));
