import { Hono } from 'hono';
import { handleErrors, refuseOtherMethods, sendProblem, unknownAddress } from '../http/app.ts';
import type { App, Environment } from '../http/context.ts';
import { addAssets } from './frame/assets.ts';
import { sendErrorPage } from './frame/layout.ts';
import { createLivePageQuota } from './frame/live-page.ts';
import type { DashboardParts } from './frame/parts.ts';
import { wantsPage } from './frame/response.ts';
import { addAuditPage } from './pages/audit.ts';
import { addBranchPages } from './pages/branches.ts';
import { addDeliveryPages } from './pages/delivery.ts';
import { addEditHookPages } from './pages/edit-hook.ts';
import { addExtensionPages } from './pages/extend-lock.ts';
import { addGitLfsPage } from './pages/git-lfs.ts';
import { addHookPages } from './pages/hook.ts';
import { addHookListPage } from './pages/hooks.ts';
import { addLockHistoryPages } from './pages/lock-history.ts';
import { addLockPathPage } from './pages/lock-path.ts';
import { addLockListPage } from './pages/locks.ts';
import { addOwnLocksPage } from './pages/my-locks.ts';
import { addNewHookPages } from './pages/new-hook.ts';
import { addNewLockPages } from './pages/new-lock.ts';
import { addNewTokenPages } from './pages/new-token.ts';
import { addNewTrustPages } from './pages/new-trust.ts';
import { addPoolPages } from './pages/pools.ts';
import { addReleasePages } from './pages/release-lock.ts';
import { addSelectedReleasePage } from './pages/release-selected.ts';
import { addRotationPages } from './pages/rotate-token.ts';
import { addSignInPages } from './pages/sign-in.ts';
import { addOneSyncPage } from './pages/sync.ts';
import { addSyncHistoryPage } from './pages/syncs.ts';
import { addTokenPages } from './pages/tokens.ts';
import { addTrustPages } from './pages/trust.ts';
import { addWorkspaceSettingsPages } from './pages/workspace-settings.ts';
import { addWorkspaceListPage } from './pages/workspaces.ts';

/** The dashboard: a separate app for browsers, with the same access rules as the API. */
export function createDashboard(parts: DashboardParts): App {
  const app: App = new Hono<Environment>();
  const live = { ...parts, takeLivePage: createLivePageQuota() };
  app.onError(
    handleErrors(parts.log, (c, refusal) => (wantsPage(c) ? sendErrorPage(c, refusal) : sendProblem(c, refusal))),
  );
  addAssets(app);
  addSignInPages(app, parts);
  addWorkspaceListPage(app, parts);
  addWorkspaceSettingsPages(app, parts);
  addTokenPages(app, parts);
  addNewTokenPages(app, parts);
  addRotationPages(app, parts);
  addTrustPages(app, parts);
  addNewTrustPages(app, parts);
  addAuditPage(app, parts);
  addBranchPages(app, parts);
  addSyncHistoryPage(app, parts);
  addOneSyncPage(app, live);
  addLockListPage(app, live);
  addNewLockPages(app, parts);
  addReleasePages(app, parts);
  addSelectedReleasePage(app, parts);
  addLockHistoryPages(app, parts);
  addGitLfsPage(app, parts);
  addLockPathPage(app, live);
  addPoolPages(app, parts);
  addExtensionPages(app, parts);
  addOwnLocksPage(app, parts);
  addHookListPage(app, parts);
  addNewHookPages(app, parts);
  addHookPages(app, parts);
  addEditHookPages(app, parts);
  addDeliveryPages(app, parts);
  refuseOtherMethods(app);
  app.all('*', (c, next) => {
    if (wantsPage(c)) throw unknownAddress(c);
    return next();
  });
  return app;
}
