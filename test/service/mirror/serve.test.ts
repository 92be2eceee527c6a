import { Hono } from 'hono';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { GitError } from '../../../src/service/git/git-error.ts';
import type { App, Environment } from '../../../src/service/http/context.ts';
import { createServe } from '../../../src/service/mirror/serve.ts';
import { findWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { startAppServer } from '../../support/app-server.ts';
import { sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeSyncedBranches } from '../../support/stored-rows.ts';

const storage = sharedStorage(sqlite, { workspaces: ['game'] });

test('a list of branches that git does not complete is cut off, and not left open', async () => {
  await storeSyncedBranches(storage, { workspace_id: 'game', name: 'main', head: 'a'.repeat(40) });
  const serve = createServe({
    ...{ storage, log: pino({ level: 'silent' }) },
    pullThrough: { commits: async () => undefined },
    git: {
      async serve(_workspace, { onOutput }) {
        await onOutput(Buffer.from('0000'));
        throw new GitError('failed', 'git could not serve the mirror: it was killed with SIGKILL.');
      },
    },
  });
  const workspace = await findWorkspace(storage.read, 'game');
  if (workspace === undefined) throw new Error('The workspace was not added.');
  const app: App = new Hono<Environment>();
  app.get('/', (c) => {
    c.set('bearer', { id: 'tok_1', name: 'ada', owner: 'ada', scopes: [], workspaces: null });
    c.set('requestId', 'req_1');
    c.set('databaseNow', Date.now);
    return serve(c, workspace);
  });
  const { port, close } = await startAppServer(app);
  onTestFinished(() => close({ idleMs: 0, requestsMs: 0 }));
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(4_000) });
  await expect(response.text()).rejects.toThrow('terminated');
});
