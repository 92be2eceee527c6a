import { Hono } from 'hono';
import type { ApiParts } from '../api/operation.ts';
import type { App } from '../http/context.ts';
import { addAssets } from './frame/assets.ts';
import type { Site } from './frame/page.ts';
import { addHooksPage } from './pages/hooks.ts';
import { addLockHistoryPages } from './pages/lock-history.ts';
import { addLockPathPages } from './pages/lock-path.ts';
import { addLockListPage } from './pages/locks.ts';
import { addNewLockPages } from './pages/new-lock.ts';
import { addNewTokenPages } from './pages/new-token.ts';
import { addOwnLocksPage } from './pages/own.ts';
import { addPoolsPage } from './pages/pools.ts';
import { addReleasePages } from './pages/release-locks.ts';
import { addSignInPages } from './pages/sign-in.ts';
import { addSyncsPage } from './pages/syncs.ts';
import { addTokenPages } from './pages/tokens.ts';
import { addWorkspacesPage } from './pages/workspaces.ts';

/** The dashboard: a separate app for browsers, with the same access rules as the API. */
export function createDashboard(parts: ApiParts): App {
  const app: App = new Hono();
  const site: Site = { ...parts, app };
  addAssets(app);
  addSignInPages(site);
  addWorkspacesPage(site);
  // Before the pages of a token, whose route would match /tokens/new.
  addNewTokenPages(site);
  addTokenPages(site);
  addSyncsPage(site);
  addLockListPage(site);
  addNewLockPages(site);
  addReleasePages(site);
  addLockHistoryPages(site);
  addLockPathPages(site);
  addPoolsPage(site);
  addOwnLocksPage(site);
  addHooksPage(site);
  return app;
}
