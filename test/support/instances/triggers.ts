import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Repository } from '../git-repository.ts';
import type { Random } from '../seed.ts';
import { insist } from './insist.ts';
import type { Race } from './racers.ts';

export const branches = ['main', 'art', 'code'];

const everyMs = 300;
const patienceMs = 150_000;

async function trigger({ traffic, base, token, workspace }: Race, branch: string): Promise<string> {
  const { reply } = await insist(traffic, base, 'POST', `/workspaces/${workspace}/sync`, {
    token,
    headers: { 'idempotency-key': randomUUID() },
    json: { branch },
  });
  if (reply.status !== 202) throw new Error(`A sync of ${branch} was answered ${reply.status} ${reply.text}`);
  return reply.body.sync_id;
}

/** Pushes to the remote and triggers syncs until the race is over; gives the ids of the syncs. */
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

export interface EndedSync {
  readonly id: string;
  readonly status: string;
  readonly head: string | null;
  readonly error: string | null;
}

/** Waits until a sync has ended; one that does not is given as it is. */
export async function awaitSync({ traffic, base, token, workspace }: Race, id: string): Promise<EndedSync> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const { reply } = await insist(traffic, base, 'GET', `/workspaces/${workspace}/syncs/${id}`, { token });
    const { status, head, error } = reply.body;
    if (status === 'succeeded' || status === 'failed' || performance.now() > until) return { id, status, head, error };
    await sleep(250);
  }
}

/** Once more for each branch: all instances together still do what they are for. */
export const syncAll = (race: Race): Promise<EndedSync[]> =>
  Promise.all(branches.map(async (branch) => awaitSync(race, await trigger(race, branch))));
