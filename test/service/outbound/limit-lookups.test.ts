import { readdirSync } from 'node:fs';
import { setImmediate as settled } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { limitLookups } from '../../../src/service/outbound/target.ts';
import { startServiceProcess } from '../../support/service-process.ts';

const { signal: never } = new AbortController();

/** Lookups that end when the test says so. */
function lookups() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const lookUp = limitLookups((hostname) => {
    begun.push(hostname);
    return new Promise<string>((resolve) => ends.push(() => resolve(hostname)));
  });
  const many = (group: string, signal = never) =>
    Array.from({ length: 100 }, (_, index) => lookUp(`${index}.${group}`, group, signal));
  return { begun, ends, lookUp, many };
}

test('name servers of a few groups that do not respond leave lookups for other groups', () => {
  const { begun, lookUp, many } = lookups();
  for (const group of ['a', 'b', 'c', 'd', 'e']) many(group);
  const stuck = begun.length;
  expect(stuck).toBeLessThan(28);
  void lookUp('hooks.example.com', 'other', never);
  expect(begun.slice(stuck)).toEqual(['hooks.example.com']);
});

test('a lookup for which nobody waits any more is not started', async () => {
  const { begun, ends, lookUp, many } = lookups();
  const calling = new AbortController();
  const given = Promise.allSettled(many('a', calling.signal));
  const stuck = begun.length;
  calling.abort();
  expect(await given).toEqual(Array.from({ length: 100 }, () => expect.objectContaining({ status: 'rejected' })));
  const next = lookUp('next', 'a', never);
  for (const end of ends.splice(0)) end();
  await settled();
  for (const end of ends) end();
  expect(await next).toBe('next');
  expect(begun).toHaveLength(stuck + 1);
});

test('callers of a group share the lookup of a name until it ends', async () => {
  const { begun, ends, lookUp } = lookups();
  const both = [lookUp('hooks', 'a', never), lookUp('hooks', 'a', never)];
  const elsewhere = lookUp('hooks', 'b', never);
  expect(begun).toEqual(['hooks', 'hooks']);
  for (const end of ends) end();
  expect(await Promise.all([...both, elsewhere])).toEqual(['hooks', 'hooks', 'hooks']);
  void lookUp('hooks', 'a', never);
  expect(begun).toHaveLength(3);
});

test.runIf(process.platform === 'linux')('the service has threads for these lookups and as many others', async () => {
  const service = await startServiceProcess({ args: ['--log-level', 'error'] });
  onTestFinished(() => service.stop().then(() => undefined));
  expect(readdirSync(`/proc/${service.command.pid}/task`).length).toBeGreaterThan(64);
});
