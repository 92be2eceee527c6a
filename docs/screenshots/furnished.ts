import type { Page } from 'playwright-core';
import type { Scope } from '../../src/interface/scopes.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { furnishHooks } from './hooks.ts';
import { hold, nowOf } from './locks.ts';
import type { Picture } from './pictured-service.ts';
import { withPicturedService } from './pictured-service.ts';
import { furnishSyncs, remotes } from './syncs.ts';

export interface Furnished {
  readonly page: Page;
  readonly storage: Storage;
  /** The page of a webhook. */
  readonly hook: string;
  go(path: string): Promise<void>;
}

/** After `pagehide`, the page ignores the end of the service, which comes before the picture is taken. */
const leave = (page: Page): Promise<unknown> => page.evaluate(`dispatchEvent(new Event('pagehide'))`);

const goOn = async (page: Page, path: string): Promise<void> => void (await page.goto(new URL(path, page.url()).href));

/** A picture of a service with workspaces, syncs, locks and a webhook. */
export const furnished = (name: string, show: (service: Furnished) => Promise<void>, scopes?: readonly Scope[]) => ({
  name,
  show: (page: Page) =>
    withPicturedService(remotes, async ({ storage, open }) => {
      await furnishSyncs(storage);
      await storage.commit('global', (db) => db.deleteFrom('locks').execute());
      const hook = await furnishHooks(storage);
      await open(page, '/', scopes);
      await hold(storage, await nowOf(page));
      await show({ page, storage, hook, go: (path) => goOn(page, path) });
      await leave(page);
    }),
});

/** A picture of a new service, with or without a workspace. */
export const bare = (name: string, path: string, workspace?: string): Picture => ({
  name,
  show: (page) =>
    withPicturedService(remotes, async ({ storage, open }) => {
      if (workspace !== undefined) {
        const remote = `https://git.example.com/studio/${workspace}.git`;
        await storage.commit('global', (db) => addWorkspace(db, storage.now, { id: workspace, remote }));
      }
      await open(page, path);
      await leave(page);
    }),
});
