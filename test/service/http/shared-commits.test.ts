import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';

test('locks that are asked for at the same time share their commits', async () => {
  const [kind] = databaseKinds;
  if (kind === undefined) throw new Error('There is no database to test on.');
  const groups: number[] = [];
  const service = await startTestService({
    ...kind,
    open: (onCommit = () => undefined) =>
      kind.open((changes) => {
        groups.push(changes);
        onCommit(changes);
      }),
  });
  onTestFinished(service.stop);
  const { secret: token } = await service.token();
  const workspace = await service.workspace();
  const script = fileURLToPath(new URL('ask-for-locks.ts', import.meta.url));
  await promisify(execFile)(process.execPath, [script, String(service.port), token, workspace, '500']);
  const shared = groups.filter((changes) => changes > 1).reduce((sum, changes) => sum + changes, 0);
  expect(shared).toBeGreaterThan(250);
});
