import { sql } from 'kysely';
import { recordEvents } from '../outbox/outbox.ts';
import { batchQuery, insertFrom, textOf, textsOf } from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';
import { findLocks } from './find.ts';
import { requestedEvent } from './history.ts';

/** The details of a request in line for the holders of its paths. */
export interface Reminder {
  readonly workspace: string;
  readonly paths: readonly { readonly path: string; readonly askedPath: string }[];
  readonly owner: string;
  readonly origin: string | null;
  readonly note: string | null;
}

/** How often an owner may remind the holder of a lock. */
export const remindedEveryMs = 60_000;

/** A lease that waits for thousands of paths notifies at most this number of holders. */
const maxNotified = 20;

/** Queues an event for each owner who begins to wait for a held lock, once within a minute. */
export async function notifyHolders(db: Database, now: Now, requests: readonly Reminder[]): Promise<void> {
  const asked = requests.flatMap(({ workspace, paths, owner, origin, note }) =>
    paths.slice(0, maxNotified).map((path) => ({ ...path, workspace, owner, origin, note })),
  );
  if (asked.length === 0) return;
  const locks = await findLocks(
    db,
    now,
    asked.map(({ workspace, path, askedPath }) => ({ workspace, path: askedPath, foldedPath: path })),
  );
  const keyOf = (workspace: string, path: string, owner: string) => JSON.stringify([workspace, path, owner]);
  const held = asked.flatMap((request, index) => (locks[index]?.isActive ? { ...request, lock: locks[index] } : []));
  const byName = new Map(held.map((each) => [keyOf(each.workspace, each.path, each.owner), each]));
  const due = await insertReminders(
    db,
    now,
    [...byName.values()].map(({ workspace, path, owner }) => ({ workspace, path, owner })),
  );
  const events = due.flatMap(({ workspace_id, path, owner, at }) => {
    const found = byName.get(keyOf(workspace_id, path, owner));
    if (found === undefined) return [];
    return requestedEvent(found.lock, { owner, origin: found.origin, note: found.note }, at);
  });
  await recordEvents(db, now, events);
}

const insertReminders = batchQuery((db, members, now) =>
  insertFrom(db, members, 'lock_requests', {
    ...textsOf(['path', 'owner']),
    workspace_id: textOf('workspace'),
    at: now,
  })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'path', 'owner'])
        .doUpdateSet({ at: now })
        .where(sql<boolean>`lock_requests.at <= ${now} - ${sql.lit(remindedEveryMs)}`),
    )
    .returning(['workspace_id', 'path', 'owner', 'at']),
);
