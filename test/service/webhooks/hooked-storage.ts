import { afterAll, afterEach, beforeAll } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { hookEvents, type Lock } from '../../../src/interface/resources.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import type { Actor } from '../../../src/service/audit/audit.ts';
import { acquireLocks } from '../../../src/service/locks/acquire.ts';
import { releaseLock } from '../../../src/service/locks/release.ts';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import type { AttemptMade } from '../../../src/service/webhooks/delivery-queue.ts';
import type { HookEventOccurrence } from '../../../src/service/webhooks/event.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { type HookRegistration, registerHook } from '../../../src/service/webhooks/hooks.ts';
import { newSecret } from '../../../src/service/webhooks/signature.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import type { DatabaseKind, TestDatabase } from '../../support/databases.ts';
import { valueIn } from './samples.ts';

const workspace = 'game';
const bearer = { id: 'tok_1', name: 'ada', scopes: ['locks:write'], workspaces: null } as const;

export const secret = newSecret();

export const actor: Actor = { name: bearer.name, tokenId: bearer.id, address: null };

/** An attempt of which only its end matters. */
export const made: AttemptMade = { durationMs: 1, answer: null };

/** A database with a workspace, in which locks are taken and hooks told of it without a service around it. */
export interface HookedStorage {
  readonly storage: Storage;
  /** A hook for all events, unless told otherwise. Gives its id. */
  hook(url: string, given?: Partial<HookRegistration>): Promise<string>;
  acquire(path: string): Promise<Lock>;
  release(path: string): Promise<Lock>;
  /** All deliveries, in the order of their events. */
  deliveries(): Promise<StoredDelivery[]>;
}

export interface StoredDelivery {
  readonly id: string;
  readonly hook_id: string;
  readonly ordering_key: string;
  readonly status: string;
  readonly attempts: number;
  readonly next_attempt_at: number | null;
  readonly last_error: string | null;
  readonly finished_at: number | null;
  readonly lease_owner: string | null;
  readonly lease_until: number | null;
  readonly event: HookEventOccurrence;
}

export async function acquireIn(db: Database, { now }: Storage, path: string): Promise<Lock> {
  const [acquisition] = await acquireLocks(db, now, [
    {
      workspace,
      path: valueIn(parseLockPath(path)),
      type: 'exclusive',
      ttl: valueIn(parseTtl('1h')),
      bearer,
      origin: null,
    },
  ]);
  if (acquisition?.kind !== 'acquired') throw new Error(`${path} is locked.`);
  return acquisition.lock;
}

export async function releaseIn(db: Database, { now }: Storage, path: string): Promise<Lock> {
  const release = await releaseLock(db, now, {
    workspace,
    path: valueIn(parseLockPath(path)),
    match: null,
    releaser: { ...actor, force: false },
  });
  if (release.kind !== 'released') throw new Error(`${path} is not locked.`);
  return release.lock;
}

async function hookedStorageOn(storage: Storage): Promise<HookedStorage> {
  await storage.commit('global', (db) =>
    addWorkspace(db, storage.now, { id: workspace, remote: 'https://git.example.com/game.git' }),
  );
  return {
    storage,
    async hook(url, given = {}) {
      const registration = {
        workspace,
        url,
        events: hookEvents,
        branches: null,
        format: 'standard',
        headers: valueIn(parseExtraHeaders({})),
        secret,
        actor,
        ...given,
      } as const;
      const registered = await storage.commit('global', (db) => registerHook(db, storage.now, registration));
      if (registered.kind === 'too-many') throw new Error(`There are ${registered.maxHooks} hooks.`);
      return registered.hook.id;
    },
    acquire: (path) => storage.commit('global', (db) => acquireIn(db, storage, path)),
    release: (path) => storage.commit('global', (db) => releaseIn(db, storage, path)),
    async deliveries() {
      const rows = await storage.read.selectFrom('deliveries').selectAll().orderBy('sequence').execute();
      return rows.map((row) => ({ ...row, event: JSON.parse(row.event) }));
    },
  };
}

/** One database for the tests of a file, without hooks and locks at the beginning of each. */
export function hookedStorage(kind: DatabaseKind): () => HookedStorage {
  let database: TestDatabase | undefined;
  let hooked: HookedStorage | undefined;

  beforeAll(async () => {
    database = await kind.open();
    hooked = await hookedStorageOn(database.storage);
  });

  afterEach(async () => {
    await database?.storage.commit('global', async (db) => {
      await db.deleteFrom('hooks').execute();
      await db.deleteFrom('locks').execute();
    });
  });

  afterAll(() => database?.remove());

  return () => {
    if (hooked === undefined) throw new Error('The database is there only while tests run.');
    return hooked;
  };
}
