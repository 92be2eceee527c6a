import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Entry } from '../../../src/action/ledger/entry.ts';
import { ledgerFile, openLedger } from '../../../src/action/ledger/ledger.ts';
import { openLockSession } from '../../../src/action/locks/session.ts';
import { type Client, createClient } from '../../../src/client/client.ts';
import { parseWorkspaceId } from '../../../src/client/workspace-id.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import type { Parsed } from '../../../src/interface/parsed.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';

function valid<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new Error(parsed.why);
  return parsed.value;
}

test('a post-step that is announced, and a request that is sent, find the intent in the ledger', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'session-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const service = 'https://workspaces.example.com/v1';
  const real = createClient({ baseUrl: service, token: 'wsa_x', userAgent: 'test' });
  onTestFinished(() => real.dispose());
  const ledger = openLedger(ledgerFile(folder), (text) => text);
  const found: Record<string, readonly Entry[]> = {};
  const look = (when: string): void => {
    found[when] = ledger.read().entries;
  };
  const client: Client = {
    ...real,
    async acquireLock({ path }) {
      look(`asked ${path}`);
      throw new Error('The step was killed here.');
    },
  };
  const session = openLockSession({
    client,
    clock: Date.now,
    sleep: async () => undefined,
    random: Math.random,
    step: 'step',
    origin: undefined,
    record: (entry) => ledger.append(entry),
    announce: () => look('announced'),
  });
  const terms = { service, workspace: valid(parseWorkspaceId('game')), type: 'exclusive', ttl: valid(parseTtl('1h')) };
  for (const path of ['a', 'b']) {
    const asked = session.acquire(valid(parseLockPath(path)), terms, { deadline: Number.POSITIVE_INFINITY });
    await expect(asked).rejects.toThrow('killed');
  }
  const intent = (path: string) => expect.objectContaining({ kind: 'intent', step: 'step', path, ttl: '1h' });
  expect(found).toEqual({
    announced: [intent('a')],
    'asked a': [intent('a')],
    'asked b': [intent('a'), intent('b')],
  });
});
