import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLockTable } from '../../../bench/simulate/lock-table.ts';
import type { ClientResponse } from '../../../src/client/response.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';
import { tried } from '../../support/soak/tried.ts';

let service: RunningService;
beforeAll(async () => {
  const sqlite = databaseKinds.find(({ name }) => name === 'SQLite');
  if (sqlite === undefined) throw new Error('There is no database to test with.');
  service = await startTestService(sqlite);
});
afterAll(() => service.stop());

type Step =
  | { readonly kind: 'take'; readonly path: string; readonly key: string; readonly ttl: number }
  | { readonly kind: 'release'; readonly path: string; readonly tag: 'its own' | 'another' };

/** Whoever uses a key again asks for the same, as a retry does. */
const take = fc
  .record({ path: fc.constantFrom('a', 'b', 'c'), again: fc.nat(2) })
  .map(({ path, again }): Step => ({ kind: 'take', path, key: `${path}${again}`, ttl: again === 0 ? 4 : 3_600 }));

const release: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('release' as const),
  path: fc.constantFrom('a', 'b', 'c'),
  tag: fc.constantFrom('its own' as const, 'another' as const),
});

/** What a client decides by. */
const told = ({ status, headers }: Pick<ClientResponse, 'status' | 'headers'>) => ({
  status,
  // Of two clocks.
  isAskedToWait: headers['retry-after'] !== undefined && Number(headers['retry-after']) >= 3,
  replayed: headers['idempotency-replayed'],
});

/** Has each answer at least once, which a few random ones may not. */
const everyAnswer: readonly Step[] = [
  { kind: 'release', path: 'a', tag: 'its own' },
  { kind: 'take', path: 'a', key: 'a1', ttl: 3_600 },
  { kind: 'take', path: 'a', key: 'a1', ttl: 3_600 },
  { kind: 'take', path: 'a', key: 'a2', ttl: 3_600 },
  { kind: 'release', path: 'a', tag: 'another' },
  { kind: 'release', path: 'a', tag: 'its own' },
];

test('the simulated locks answer as the service does', async () => {
  const { secret: token } = await service.token();
  const seen = new Set<string>();
  await tried(
    'simulated locks that answered as the service',
    fc.asyncProperty(fc.array(fc.oneof(take, release), { minLength: 1, maxLength: 15 }), async (steps) => {
      const locks = `/v1/workspaces/${await service.workspace()}/locks`;
      const run = randomUUID();
      const table = createLockTable(Date.now);
      const tags = new Map<string, { readonly real: string; readonly simulated: string }>();

      async function taken({ path, key, ttl }: Extract<Step, { kind: 'take' }>) {
        const json = { path, type: 'exclusive', ttl: `${ttl}s` };
        const real = await service.ask('POST', locks, { token, headers: { 'idempotency-key': run + key }, json });
        return { real, simulated: table.take({ path, key, ttlMs: ttl * 1_000 }) };
      }
      async function released({ path, tag }: Extract<Step, { kind: 'release' }>) {
        const its = tag === 'its own' ? tags.get(path) : undefined;
        const headers = { 'if-match': its?.real ?? '"none"' };
        const real = await service.ask('DELETE', `${locks}/${path}`, { token, headers });
        return { real, simulated: table.release(path, its?.simulated ?? '"none"') };
      }

      for (const step of steps) {
        const { real, simulated } = step.kind === 'take' ? await taken(step) : await released(step);
        const { response } = simulated;
        expect(told(response)).toEqual(told({ status: real.status, headers: Object.fromEntries(real.headers) }));
        seen.add(`${response.status} ${response.headers['idempotency-replayed'] ?? ''}`);
        if (response.status !== 201) continue;
        tags.set(step.path, { real: real.headers.get('etag') ?? '', simulated: String(response.headers.etag) });
      }
    }),
    { examples: [[[...everyAnswer]]] },
  );
  expect([...seen].toSorted()).toEqual(['201 ', '201 true', '204 ', '404 ', '409 ', '412 ']);
});
