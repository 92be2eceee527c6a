import type { App } from '../http/operation.ts';
import type { HookRoutes } from '../http/routes/hooks.ts';
import type { LockRoutes } from '../http/routes/locks.ts';
import type { SyncRoutes } from '../http/routes/syncs.ts';
import type { WorkspaceRoutes } from '../http/routes/workspaces.ts';
import type { LockWatch } from '../locks/watch-locks.ts';
import type { RemoteMemory } from '../workspaces/remote-memory.ts';
import { addAssets } from './assets.ts';
import { addAuditPage } from './audit/audit-page.ts';
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

export type DashboardParts = LockRoutes &
  HookRoutes &
  SyncRoutes &
  WorkspaceRoutes & {
    readonly remoteMemory: RemoteMemory;
    /** Ends what a page would otherwise go on listening to. */
    readonly stopping: AbortSignal;
    readonly lockWatch: LockWatch;
  };

/** The pages for people. What they show and do goes through the same rules as the API. */
export function addDashboard(app: App, parts: DashboardParts): void {
  const live = { ...parts, takeLivePage: createLivePageQuota() };
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
}
