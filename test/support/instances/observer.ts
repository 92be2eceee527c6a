import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Lock } from '../../../src/interface/resources.ts';
import { ask } from '../running-service.ts';
import { isHeld, type Race } from './racers.ts';

type Seen = Pick<Lock, 'id' | 'path' | 'fence'>;

export interface Observer {
  /** All locks that it has seen, by id. */
  readonly seen: ReadonlySet<string>;
  looks(): number;
  stop(): Promise<void>;
}

async function askDatabase(url: string, workspace: string): Promise<readonly Seen[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Seen>(
      `select id, path, fence::int from locks
       where workspace_id = $1 and expires_at > extract(epoch from clock_timestamp()) * 1000`,
      [workspace],
    );
    return rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function askService({ base, token, workspace }: Race): Promise<readonly Seen[]> {
  const target = `/workspaces/${workspace}/locks?limit=1000`;
  const { status, body, text } = await ask(base, 'GET', target, { token, signal: AbortSignal.timeout(10_000) });
  if (status !== 200) throw new Error(text);
  return body.locks;
}

/**
 * Looks at the locks again and again, in the database itself and in the service's list, and holds what it sees against
 * what the clients know: a lock that is held all the while is there, one that was released before is not, no path has two,
 * and fences only grow.
 */
export function observe(race: Race, databaseUrl: string): Observer {
  const { book, workspace } = race;
  const seen = new Set<string>();
  const highest = new Map<string, number>();
  let looks = 0;
  let stopped = false;

  function judge(
    where: string,
    found: readonly Seen[],
    heldBefore: readonly string[],
    releasedBefore: ReadonlySet<string>,
  ) {
    const ids = new Set(found.map(({ id }) => id));
    if (new Set(found.map(({ path }) => path)).size < found.length)
      book.violations.push(`${where}: a path has two locks.`);
    for (const { id, path, fence } of found) {
      seen.add(id);
      if (releasedBefore.has(id)) book.violations.push(`${where}: ${id} on ${path} is there after its release.`);
      if (fence < (highest.get(path) ?? 0)) book.violations.push(`${where}: the fence of ${path} fell to ${fence}.`);
      highest.set(path, Math.max(fence, highest.get(path) ?? 0));
    }
    for (const id of heldBefore) {
      const grant = book.grants.get(id);
      if (grant !== undefined && isHeld(grant) && !ids.has(id)) {
        book.violations.push(`${where}: ${id} on ${grant.lock.path} is not there, and it was granted.`);
      }
    }
  }

  async function look(where: string, find: () => Promise<readonly Seen[]>): Promise<void> {
    const heldBefore = [...book.held.values()].filter(isHeld).map(({ lock }) => lock.id);
    const releasedBefore = new Set(book.released);
    let found: readonly Seen[];
    try {
      found = await find();
    } catch {
      // The database is being restarted, or the instance was killed.
      await sleep(50);
      return;
    }
    looks += 1;
    judge(where, found, heldBefore, releasedBefore);
  }

  async function lookOnAndOn(): Promise<void> {
    while (!stopped) {
      await look('The database', () => askDatabase(databaseUrl, workspace));
      await look('The list', () => askService(race));
      await sleep(20);
    }
  }
  const done = lookOnAndOn();
  return {
    seen,
    looks: () => looks,
    async stop() {
      stopped = true;
      await done;
    },
  };
}
