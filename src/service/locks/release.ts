import type { LockPath } from '../../interface/lock-path.ts';
import type { Lock } from '../../interface/resources.ts';
import { type Actor, recordAudit } from '../operation/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { findLock } from './find.ts';
import type { IdMatch } from './id-match.ts';
import { releasedEvent } from './lock-events.ts';
import { lockOf } from './lock-row.ts';

/** Who asks: a token, or the operator at the command line, who owns no lock. */
export interface Releaser extends Actor {
  /** Takes away another's lock. Whoever sets it has checked that this is allowed. */
  readonly force: boolean;
  /** Why it is taken away, in the words of whoever does it. */
  readonly reason?: string;
}

export interface ReleaseRequest {
  readonly workspace: string;
  readonly path: LockPath;
  readonly match: IdMatch | null;
  readonly releaser: Releaser;
}

export type Release =
  | { readonly kind: 'released'; readonly lock: Lock }
  | { readonly kind: 'absent' }
  | { readonly kind: 'another-lock'; readonly lock: Lock }
  | { readonly kind: 'another-token'; readonly lock: Lock };

export async function releaseLock(
  db: Database,
  now: Now,
  { workspace, path, match, releaser }: ReleaseRequest,
): Promise<Release> {
  const found = await findLock(db, now, { workspace, path });
  if (!found?.live) return { kind: 'absent' };
  const lock = lockOf(found);
  if (match !== null && !match(found.id)) return { kind: 'another-lock', lock };
  const own = found.token_id === releaser.tokenId;
  if (!own && !releaser.force) return { kind: 'another-token', lock };
  const { at } = await db
    .deleteFrom('locks')
    .where('workspace_id', '=', workspace)
    .where('path', '=', path)
    .returning(now.as('at'))
    .executeTakeFirstOrThrow();
  await recordEvents(db, now, [releasedEvent(found, { at, by: releaser.name, forced: !own })]);
  if (!own) {
    await recordAudit(db, now, {
      actor: releaser,
      action: 'lock.force-released',
      detail: {
        workspace,
        path,
        lock: lock.id,
        owner: lock.owner,
        origin: lock.origin,
        ...(releaser.reason !== undefined && { reason: releaser.reason }),
      },
    });
  }
  return { kind: 'released', lock };
}
