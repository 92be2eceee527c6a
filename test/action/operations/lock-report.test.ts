import { expect, test } from 'vitest';
import { acquiredOutcome } from '../../../src/action/operations/lock-report.ts';
import { at, grantOf } from '../../locks/samples.ts';

type Parameters = globalThis.Parameters<typeof acquiredOutcome>;

test('a report on 20,000 locks of outdated files takes moments', () => {
  const grants = Array.from({ length: 20_000 }, (_, index) => grantOf(`Content/Characters/Hero/${index}.uasset`));
  const outdated = grants.map(({ path }) => ({ path, branch: 'main', commit: 'c0ffee', author: 'ada', at }));
  const log = { line: () => undefined };
  // The report uses no other members of them.
  const context = {
    client: { serverNow: () => 0 },
    compared: [{ outdated }],
    log,
    runner: {},
  } as unknown as Parameters[0];
  const task = { operation: 'lock', workspace: 'game', 'auto-release': true } as Parameters[1];
  const result = { waitedMs: 0 } as Parameters[3];
  const before = process.threadCpuUsage();
  const { annotations } = acquiredOutcome(context, task, grants, result);
  const { user, system } = process.threadCpuUsage(before);
  expect(annotations).toHaveLength(20_000);
  // Comparing each file with each lock takes longer.
  expect((user + system) / 1_000).toBeLessThan(500);
});
