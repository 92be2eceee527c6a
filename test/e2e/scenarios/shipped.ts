import { afterAll, beforeAll } from 'vitest';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { openPlace, type Place, type PlaceOptions } from './place.ts';

export interface ShippedService {
  /** With `ownToken`, no other workspace uses the token of the jobs, and with it their rate limit. */
  workspace(options?: { readonly ownToken?: boolean; readonly end?: PlaceOptions['end'] }): Promise<Place>;
}

let workspaces = 0;

/**
 * Starts the service in a process with default settings except `settings`. Tests read its locks from the database, so
 * that they do not use up the rate limit of the jobs.
 */
export function useShippedService(...settings: readonly string[]): ShippedService {
  let service: ServiceProcess;
  let storage: Storage;
  let buildBot = '';
  let graces = '';
  /** Accesses the database like the commands do, but without a process for each. */
  const change = <T>(work: (db: Database, now: Storage['now']) => Promise<T>): Promise<T> =>
    storage.commit('global', (db) => work(db, storage.now));
  const newToken = async (name: string): Promise<string> => {
    const wanted = { name, scopes: ['locks:write', 'sync'], workspaces: null, lifetime: null } as const;
    return (await change((db, now) => createToken(db, now, wanted))).secret;
  };

  beforeAll(async () => {
    service = await startServiceProcess({ args: settings });
    storage = await openSqlite({ folder: service.folder });
    [buildBot, graces] = await Promise.all([newToken('build-bot'), newToken('grace')]);
  });
  afterAll(async () => {
    await storage?.close();
    await service?.stop();
  });

  return {
    async workspace({ ownToken = false, end } = {}) {
      workspaces += 1;
      const workspace = `w${workspaces}`;
      await change((db, now) => addWorkspace(db, now, { id: workspace, remote: 'https://git.example.com/assets.git' }));
      const token = ownToken ? await newToken('build-bot') : buildBot;
      const { baseUrl, token: admins } = service;
      return openPlace({ storage, baseUrl, workspace, token, graces, admins, ...(end && { end }) });
    },
  };
}
