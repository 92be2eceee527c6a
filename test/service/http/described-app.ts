import pino from 'pino';
import { createRateLimiter } from '../../../src/service/access/access.ts';
import { createApi } from '../../../src/service/api/api.ts';
import type { Api } from '../../../src/service/api/operation.ts';
import type { Scope } from '../../../src/service/contract/scopes.ts';
import type { Git } from '../../../src/service/git/git.ts';
import type { AppParts } from '../../../src/service/http/app.ts';
import type { App } from '../../../src/service/http/context.ts';
import type { ServerOptions } from '../../../src/service/http/server.ts';
import type { LfsParts } from '../../../src/service/lfs/lfs.ts';
import type { Locks } from '../../../src/service/locks/locks.ts';
import type { MirrorParts } from '../../../src/service/mirror/mirror.ts';
import { createTargetCheck } from '../../../src/service/outbound/target.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { createServiceApp } from '../../../src/service/service.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import { startAppServer } from '../../support/app-server.ts';
import { sqlite } from '../../support/databases.ts';
import { endlessDisk } from '../../support/endless-disk.ts';
import { operator } from '../../support/operator.ts';
import { type Ask, ask, type Reply } from '../../support/running-service.ts';

const notHere = (): never => {
  throw new Error('This app has no parts that work: it is there to be looked at.');
};

type Parts = MirrorParts & AppParts & LfsParts;

const describedParts = (parts: Partial<Parts>): Parts => ({
  // A request uses only the parts that it needs.
  storage: {} as Storage,
  locks: {} as Locks,
  rateLimiter: { charge: notHere, headersOf: notHere },
  requestLimit: { identify: () => undefined },
  exchangeToken: notHere,
  freeDisk: endlessDisk,
  idempotent: notHere,
  compare: notHere,
  prepareSync: notHere,
  pullThrough: { commits: notHere, objects: notHere },
  remotes: { known: notHere, ask: notHere, askAgain: notHere, estimate: notHere },
  targets: createTargetCheck([], notHere),
  git: {} as Git,
  metrics: createMetrics(),
  trustedProxies: [],
  databaseClock: { now: Date.now },
  log: pino({ level: 'silent' }),
  publicUrl: () => undefined,
  objectsOf: notHere,
  urlSigner: { sign: notHere, verify: () => ({ kind: 'invalid' }) },
  isStopping: () => false,
  ...parts,
});

/** The API that the OpenAPI document describes. */
export const describedApi = (): Api => createApi(describedParts({}));

/** The app with all its routes, but only with the given parts. */
export const describedApp = (given: Partial<Parts> = {}): App => createServiceApp(describedParts(given));

/** A server with only this app, on its own database. */
export async function serveApp(given: Partial<Parts> = {}, options: Partial<ServerOptions> = {}) {
  const { storage, remove } = await sqlite.open();
  const rateLimiter = createRateLimiter(null, () => 0);
  const { port, close } = await startAppServer(describedApp({ storage, rateLimiter, ...given }), options);
  return {
    port,
    close,
    storage,
    ask: (method: string, path: string, more?: Ask): Promise<Reply> =>
      ask(`http://127.0.0.1:${port}`, method, path, more),
    /** Creates a token, and returns its secret. */
    async token(...scopes: readonly Scope[]): Promise<string> {
      const made = { name: 'ada', scopes, workspaces: null, lifetime: null };
      return (await storage.commit('global', (db) => createToken(db, operator, made))).secret;
    },
    async stop(): Promise<void> {
      await close({ idleMs: 0, requestsMs: 0 });
      await remove();
    },
  };
}
