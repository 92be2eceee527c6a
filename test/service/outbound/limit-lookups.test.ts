import { readdirSync } from 'node:fs';
import { setImmediate as settled } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createTargetCheck } from '../../../src/service/outbound/target.ts';
import { startServiceProcess } from '../../support/service-process.ts';

const { signal: never } = new AbortController();

/** Lookups that end when the test says so. */
function lookups() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const check = createTargetCheck([], (hostname) => {
    begun.push(hostname);
    return new Promise((resolve) => ends.push(() => resolve(['1.1.1.1'])));
  });
  const addressesOf = (hostname: string, group: string, signal: AbortSignal) =>
    check(new URL(`https://${hostname}`), group, signal);
  const many = (group: string, signal = never) =>
    Array.from({ length: 100 }, (_, index) => addressesOf(`${index}.${group}`, group, signal));
  return { begun, ends, addressesOf, many };
}

test('name servers of a few groups that do not respond leave lookups for other groups', async () => {
  const { begun, addressesOf, many } = lookups();
  for (const group of ['a', 'b', 'c', 'd', 'e']) void Promise.allSettled(many(group));
  await settled();
  const stuck = begun.length;
  expect(stuck).toBeLessThan(28);
  void addressesOf('hooks.example.com', 'other', never);
  await settled();
  expect(begun.slice(stuck)).toEqual(['hooks.example.com']);
});

test('a lookup for which nobody waits any more is not started', async () => {
  const { begun, ends, addressesOf, many } = lookups();
  const calling = new AbortController();
  const given = Promise.allSettled(many('a', calling.signal));
  await settled();
  const stuck = begun.length;
  calling.abort();
  expect(await given).toEqual(Array.from({ length: 100 }, () => expect.objectContaining({ status: 'rejected' })));
  const next = addressesOf('next', 'a', never);
  for (const end of ends.splice(0)) end();
  await settled();
  for (const end of ends) end();
  expect(await next).toEqual({ ok: true, value: ['1.1.1.1'] });
  expect(begun).toHaveLength(stuck + 1);
});

test.runIf(process.platform === 'linux')('the service has threads for these lookups and as many others', async () => {
  const service = await startServiceProcess({ args: ['--log-level', 'error'] });
  onTestFinished(() => service.stop().then(() => undefined));
  expect(readdirSync(`/proc/${service.command.pid}/task`).length).toBeGreaterThan(64);
});
