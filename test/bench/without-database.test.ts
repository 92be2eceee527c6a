import { expect, onTestFinished, test } from 'vitest';
import { withoutDatabase } from '../../bench/service/without-database.ts';
import { parseLockPath } from '../../src/interface/lock-path.ts';
import { parseTtl } from '../../src/interface/ttl.ts';
import { acquireLocks } from '../../src/service/locks/acquire.ts';
import { authenticate } from '../../src/service/tokens/tokens.ts';
import { valueIn } from '../service/webhooks/samples.ts';

test('the storage without a database answers all that the route for a lock asks it', async () => {
  const { storage, token, workspace } = withoutDatabase();
  onTestFinished(storage.close);
  const authentication = await authenticate(storage, token);
  if (authentication.kind !== 'known') throw new Error(authentication.why);
  const { bearer } = authentication;
  const path = valueIn(parseLockPath('Content/Hero.uasset'));
  const request = { workspace, path, type: 'exclusive', ttl: valueIn(parseTtl('1h')), bearer, origin: null } as const;
  expect(await storage.commit('global', (db) => acquireLocks(db, storage.now, [request]))).toMatchObject([
    {
      kind: 'acquired',
      lock: { path, type: 'exclusive', owner: bearer.name, origin: null },
    },
  ]);
});
