import { Hono } from 'hono';
import type { Logger } from 'pino';
import type { AccessControl } from '../http/access.ts';
import { answerErrors, refuseOtherMethods, sendProblem, unknownAddress } from '../http/app.ts';
import type { App, Environment } from '../http/context.ts';
import type { Idempotent } from '../idempotency/idempotency.ts';
import type { ReleasedLock } from '../locks/waiters.ts';
import type { LockWatch } from '../locks/watch-locks.ts';
import type { PrepareSync } from '../syncs/trigger.ts';
import type { TargetCheck } from '../webhooks/target-address.ts';
import type { RemoteMemory } from '../workspaces/remote-memory.ts';
import { wantsPage } from './answer.ts';
import { addAssets } from './assets.ts';
import { addAuditPage } from './audit/audit-page.ts';
import { sendErrorPage } from './error-page.ts';
import { addHookChanges } from './hooks/change-hook.ts';
import { addDeliveryPages } from './hooks/delivery-page.ts';
import { addHookListPage } from './hooks/hook-list.ts';
import { addHookPage } from './hooks/hook-page.ts';
import { addNewHookPages } from './hooks/new-hook.ts';
import { createLivePageQuota } from './live/live-page-quota.ts';
import { addLockListPage } from './locks/list-page.ts';
import { addReleasePages } from './locks/release-page.ts';
import { addSignInPages } from './pages/sign-in.ts';
import { addWorkspaceListPage } from './pages/workspace-list.ts';
import { addBranchPages } from './syncs/branch-list.ts';
import { addOneSyncPage } from './syncs/one-sync.ts';
import { addSyncHistoryPage } from './syncs/sync-history.ts';
import { addNewTokenPages } from './tokens/new-token.ts';
import { addRevokeTokenPages } from './tokens/revoke-token.ts';
import { addTokenListPage } from './tokens/token-list.ts';

export interface DashboardParts extends AccessControl {
  readonly log: Logger;
  readonly idempotent: Idempotent;
  readonly targets: TargetCheck;
  readonly prepareSync: PrepareSync;
  readonly remoteMemory: RemoteMemory;
  readonly lockWatch: LockWatch;
  /** Ends what a page would otherwise go on listening to. */
  readonly stopping: AbortSignal;
  /** There is a sync to run. */
  readonly onQueued: () => void;
  /** There may be something to tell the hooks. */
  readonly onLockEvent: () => void;
  /** Somebody may wait for its path. */
  readonly onReleased: (lock: ReleasedLock) => void;
}

/** The pages for people: an app of its own, which answers whoever looks with a browser. It goes through the rules of the API. */
export function createDashboard(parts: DashboardParts): App {
  const app: App = new Hono<Environment>();
  const live = { ...parts, takeLivePage: createLivePageQuota() };
  app.onError(
    answerErrors(parts.log, (c, refusal) => (wantsPage(c) ? sendErrorPage(c, refusal) : sendProblem(c, refusal))),
  );
  addAssets(app);
  addSignInPages(app, parts);
  addWorkspaceListPage(app, parts);
  addTokenListPage(app, parts);
  addNewTokenPages(app, parts);
  addRevokeTokenPages(app, parts);
  addAuditPage(app, parts);
  addBranchPages(app, parts);
  addSyncHistoryPage(app, parts);
  addOneSyncPage(app, live);
  addLockListPage(app, live);
  addReleasePages(app, parts);
  addHookListPage(app, parts);
  addNewHookPages(app, parts);
  addHookPage(app, parts);
  addHookChanges(app, parts);
  addDeliveryPages(app, parts);
  refuseOtherMethods(app);
  app.all('*', (c, next) => {
    if (wantsPage(c)) throw unknownAddress(c);
    return next();
  });
  return app;
}
