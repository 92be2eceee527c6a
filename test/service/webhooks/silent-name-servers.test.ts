import { expect, test } from 'vitest';
import { limitParallel } from '../../../src/service/runtime/limit-parallel.ts';
import { sqlite } from '../../support/databases.ts';
import { hookedService, patient } from './hooked-service.ts';

/** As in the service, whose threads take any lookup and do not let it be cancelled. */
const threads = limitParallel({ max: 32 });
const isSilent = new Set<string>();
let silentLookups = 0;

const service = hookedService(sqlite, {
  resolve: (hostname) =>
    threads('', async () => {
      if (!isSilent.has(hostname)) return ['127.0.0.1'];
      silentLookups += 1;
      return new Promise<never>(() => {});
    }),
});

test('name servers that do not respond do not hold up deliveries and registrations of another workspace', async () => {
  const target = await service.receiver();
  const { port } = new URL(target.url());
  const guests = await Promise.all(['a', 'b', 'c'].map(() => service.hooks()));
  for (const guest of guests) {
    for (let index = 0; index < 16; index += 1) {
      const hostname = `${index}.${guest.id}.example`;
      const url = `http://${hostname}:${port}/?secret=of-${hostname}`;
      expect((await guest.register({ url, events: ['lock.acquired'] })).status).toBe(201);
      isSilent.add(hostname);
    }
  }
  for (const { lock } of guests) await lock('a');
  await expect.poll(() => silentLookups, patient).toBeGreaterThanOrEqual(guests.length * 4);

  const honest = await service.hooks();
  const url = `http://honest.example:${port}/hook?secret=of-the-honest`;
  expect((await honest.register({ url, events: ['lock.acquired'] })).status).toBe(201);
  for (let index = 0; index < 10; index += 1) {
    await honest.lock(`file-${index}`);
    await target.nextDelivery();
  }
  expect(target.deliveries.map(({ url }) => url)).toEqual(Array(10).fill('/hook?secret=of-the-honest'));
});
