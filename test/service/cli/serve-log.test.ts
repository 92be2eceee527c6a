import { expect, test } from 'vitest';
import { commandEnvironment, startMain } from '../../command/run-main.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Returns the log of a service from its start to its end. */
async function startAndStop(folder: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const settings = { ...commandEnvironment(folder), WORKSPACE_SERVICE_PORT: '0', ...environment };
  const command = startMain(['serve'], settings);
  await command.printed('listens on ');
  await command.stop();
  return command.written().stderr;
}

const lines = (log: string, msg: string) =>
  log
    .split('\n')
    .filter((line) => line.includes(`"msg":"${msg}"`))
    .map((line) => JSON.parse(line));

test('serve warns of each unknown variable, and never with its value', async () => {
  const log = await startAndStop(temporaryFolder(), {
    WORKSPACE_SERVICE_RATE: 's3cret-1',
    WORKSPACE_SERVICE_COLOR_OF_THE_DASHBOARD: 's3cret-2',
    WORKSPACE_SERVICE_SCOPES: 'sync',
  });
  const warnings = lines(log, 'unknown variable: it has no effect');
  expect(warnings).toMatchObject([
    { level: 'warn', variable: 'WORKSPACE_SERVICE_COLOR_OF_THE_DASHBOARD' },
    { variable: 'WORKSPACE_SERVICE_RATE' },
  ]);
  expect(log).not.toContain('s3cret');
});
