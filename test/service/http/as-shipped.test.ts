import { expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { ask, startTestService } from '../../support/running-service.ts';
import { startServiceProcess } from '../../support/service-process.ts';

test('tests meet the rate limit that the command has by default', async () => {
  const [kind] = databaseKinds;
  if (kind === undefined) throw new Error('There is no database to test with.');
  const service = await startTestService(kind);
  onTestFinished(() => service.stop());
  const { secret } = await service.token();
  const tested = await service.ask('GET', '/v1/workspaces', { token: secret });

  const command = await startServiceProcess();
  onTestFinished(async () => void (await command.stop()));
  const shipped = await ask(command.baseUrl, 'GET', '/workspaces', { token: command.token });

  const policy = shipped.headers.get('ratelimit-policy');
  expect(policy).not.toBeNull();
  expect(tested.headers.get('ratelimit-policy')).toBe(policy);
});
