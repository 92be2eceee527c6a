import type { Selectable } from 'kysely';
import { afterEach, expect } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { hookEvents } from '../../../src/interface/resources.ts';
import type { Actor } from '../../../src/service/audit/audit.ts';
import type { Lock } from '../../../src/service/contract/schemas.ts';
import { releaseLocks } from '../../../src/service/locks/change-lock.ts';
import { toLock } from '../../../src/service/locks/find.ts';
import type { HookEventOccurrence } from '../../../src/service/outbox/event.ts';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import type { Tables } from '../../../src/service/storage/tables.ts';
import {
  type ClaimedDelivery,
  claimDelivery,
  type DeliveryEnd,
  dueHooks,
  settleDelivery,
} from '../../../src/service/webhooks/delivery-queue.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { type HookRegistration, registerHook } from '../../../src/service/webhooks/hooks.ts';
import { newWebhookSecret } from '../../../src/service/webhooks/signature.ts';
import type { DatabaseKind } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { valueIn } from '../../support/value-in.ts';
import { grantedLock, takeIn } from '../locks/taken-locks.ts';

const workspace = 'game';
const bearer = { id: 'tok_1', name: 'ada', owner: 'ada', scopes: ['locks:write'], workspaces: null } as const;

export const secret = newWebhookSecret();

export const actor: Actor = { name: bearer.name, tokenId: bearer.id, address: null };

type StoredDelivery = Omit<Selectable<Tables['deliveries']>, 'event'> & { readonly event: HookEventOccurrence };

async function acquireIn(db: Database, path: string): Promise<Lock> {
  const [decision] = await takeIn(db, [path], { bearer });
  return toLock(grantedLock(decision));
}

async function releaseIn(db: Database, path: string): Promise<Lock> {
  const request = { workspace, path: valueIn(parseLockPath(path)), match: () => true, bearer, actor, force: false };
  const [release] = await releaseLocks(db, [request]);
  if (release?.kind !== 'released') throw new Error(`${path} is not locked.`);
  return release.lock;
}

/** Claims the delivery that has waited longest, for tests that do not depend on scheduling. */
export async function claimNext(storage: Storage): Promise<ClaimedDelivery | undefined> {
  for (const { id } of (await dueHooks(storage)).toSorted((a, b) => a.since - b.since)) {
    const claimed = await claimDelivery(storage, id);
    if (claimed !== undefined) return claimed;
  }
  return undefined;
}

/**
 * One database for the tests of a file, with a workspace where locks are acquired and hooks receive events without a
 * service around it. Each test starts without hooks and locks.
 */
export function hookedStorage(kind: DatabaseKind) {
  const storage = sharedStorage(kind, { workspaces: [workspace] });
  const change = <T>(work: (db: Database) => Promise<T>): Promise<T> => storage.commit('global', work);

  /** All deliveries, in the order of their events. */
  async function deliveries(): Promise<StoredDelivery[]> {
    const rows = await storage.read.selectFrom('deliveries').selectAll().orderBy('sequence').execute();
    return rows.map((row) => ({ ...row, event: JSON.parse(row.event) }));
  }
  const hooked = {
    storage,
    /** Registers a hook for all events unless told otherwise. Returns its id. */
    async hook(url: string, given: Partial<HookRegistration> = {}): Promise<string> {
      const all = { workspace, url, events: hookEvents, branches: null, format: 'standard' } as const;
      const registration = {
        ...all,
        headers: valueIn(parseExtraHeaders({})),
        secret,
        actor,
        ...given,
      };
      const registered = await change((db) => registerHook(db, registration));
      return registered.hook.id;
    },
    acquire: (path: string) => change((db) => acquireIn(db, path)),
    release: (path: string) => change((db) => releaseIn(db, path)),
    deliveries,
    waiting: async () => (await deliveries()).length,
    /** Claims the delivery that has waited longest; fails if none is due. */
    async claim(): Promise<ClaimedDelivery> {
      return (await claimNext(storage)) ?? expect.fail('There is nothing to claim.');
    },
    settle: (claimed: ClaimedDelivery, end: DeliveryEnd) => change((db) => settleDelivery(db, claimed, end)),
    /** Changes all deliveries, as time or another instance would. */
    setDeliveries: (columns: Partial<Selectable<Tables['deliveries']>>) => changeRows(storage, 'deliveries', columns),
    clear: () =>
      change(async (db) => {
        await db.deleteFrom('hooks').execute();
        await db.deleteFrom('locks').execute();
      }),
  };
  afterEach(hooked.clear);
  return {
    ...hooked,
    /** A hook with due deliveries, one for each acquired lock. */
    async due({ url = 'https://a.example.com/', paths = ['a'] as readonly string[] } = {}) {
      const id = await hooked.hook(url);
      for (const path of paths) await hooked.acquire(path);
      return { id };
    },
  };
}
