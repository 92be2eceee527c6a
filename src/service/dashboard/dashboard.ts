import { Hono } from 'hono';
import { handleErrors, refuseOtherMethods, sendProblem, unknownUrl } from '../http/app.ts';
import type { App, Environment } from '../http/context.ts';
import { addAssets } from './frame/assets.ts';
import { sendErrorPage, showPage } from './frame/layout.ts';
import { createLivePageQuota } from './frame/live-page.ts';
import type { DashboardParts, Site } from './frame/page.ts';
import { wantsPage } from './frame/response.ts';
import { addExtendPage } from './pages/extend-lock.ts';
import { addHookListPage } from './pages/hooks.ts';
import { addLockHistoryPages } from './pages/lock-history.ts';
import { addLockPathPage } from './pages/lock-path.ts';
import { addLockListPage } from './pages/locks.ts';
import { addAskPages, addNewLockPages } from './pages/new-lock.ts';
import { addNewTokenPages } from './pages/new-token.ts';
import { addOwnLocksPage } from './pages/own.ts';
import { addPoolPages } from './pages/pools.ts';
import { addReleasePages } from './pages/release-locks.ts';
import { addRotationPages } from './pages/rotate-token.ts';
import { addSignInPages } from './pages/sign-in.ts';
import { addOneSyncPage, addSyncHistoryPage } from './pages/syncs.ts';
import { addTokenPages } from './pages/tokens.ts';
import { addWorkspaceListPage } from './pages/workspaces.ts';

/** The dashboard: a separate app for browsers, with the same access rules as the API. */
export function createDashboard(parts: DashboardParts): App {
  const app: App = new Hono<Environment>();
  const site: Site = { ...parts, app, showPage, takeLivePage: createLivePageQuota() };
  app.onError(
    handleErrors(parts.log, (c, refusal) => (wantsPage(c) ? sendErrorPage(c, refusal) : sendProblem(c, refusal))),
  );
  addAssets(app);
  addSignInPages(site);
  addWorkspaceListPage(site);
  addTokenPages(site);
  addNewTokenPages(site);
  addRotationPages(site);
  addSyncHistoryPage(site);
  addOneSyncPage(site);
  addLockListPage(site);
  addNewLockPages(site);
  addAskPages(site);
  addExtendPage(site);
  addReleasePages(site);
  addLockHistoryPages(site);
  addLockPathPage(site);
  addPoolPages(site);
  addOwnLocksPage(site);
  addHookListPage(site);
  refuseOtherMethods(app);
  app.all('*', (c, next) => {
    if (wantsPage(c)) throw unknownUrl(c);
    return next();
  });
  return app;
}
