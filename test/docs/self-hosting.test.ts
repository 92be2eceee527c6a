import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { serviceOfTests } from '../support/service-of-tests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { installCommand, runSnippet, selfHosting, shipped, snippetWith } from './pages.ts';

test('the systemd unit starts the command with the settings that the page installs', async () => {
  const unit = await shipped('workspace-service.service');
  expect(selfHosting.text).toContain(' /usr/local/bin/workspace-service\n');
  expect(unit).toContain('\nExecStart=/usr/local/bin/workspace-service serve\n');
  const [, settings = ''] = /^EnvironmentFile=(.+)$/m.exec(unit) ?? [];
  expect(snippetWith(selfHosting, 'useradd')).toContain(settings);
});

test('systemd accepts every line of the systemd unit', async (context) => {
  const version = await runSnippet('systemd-analyze --version', {}).catch(() => undefined);
  if (version === undefined) leaveOut(context, 'There is no systemd on this machine.');
  const file = join(temporaryFolder(), 'workspace-service.service');
  const unit = await shipped('workspace-service.service');
  // systemd checks that the command exists, but it is not installed here.
  await writeFile(file, unit.replace('ExecStart=/usr/local/bin/workspace-service ', `ExecStart=${process.execPath} `));
  // It reports unknown settings but still exits with 0.
  const told = await runSnippet(`systemd-analyze verify --man=no ${file} 2>&1`, {});
  expect(told.split('\n').filter((line) => line.includes('workspace-service.service'))).toEqual([]);
});

const service = serviceOfTests();

test('the command that checks a proxy prints the result that the page shows', async () => {
  const workspace = await service.workspace();
  const { secret } = await service.token({ scopes: ['locks:write'] });
  const replaced = {
    'https://workspaces.example.com': service.baseUrl,
    '/workspaces/game/': `/workspaces/${workspace}/`,
  };
  const environment = { WORKSPACE_TOKEN: secret };
  const told = await runSnippet(snippetWith(selfHosting, 'none%20here'), { replaced, environment });
  const detail = expect.stringContaining('Content/none here.uasset');
  expect(JSON.parse(told)).toMatchObject({ status: 404, detail });
});

test('commands run as the user of the service, with its settings', async () => {
  const folder = temporaryFolder();
  const settings = join(folder, 'environment');
  const command = await installCommand(folder);
  await writeFile(settings, 'WORKSPACE_SERVICE_SCOPES="sync,locks:write"\n');
  const script = `${snippetWith(selfHosting, 'workspace-service() {')}
workspace-service workspace add game --no-check --remote https://git.example.com/game.git >/dev/null
workspace-service token create --name 'two words' --json`;
  const home = join(folder, 'home');
  await mkdir(home);
  const replaced = { '/etc/workspace-service/environment': settings, '/usr/local/bin/workspace-service': command };
  const { token } = JSON.parse(await runSnippet(script, { replaced, environment: { HOME: home } }));
  expect(token).toMatchObject({ name: 'two words', scopes: ['sync', 'locks:write'] });
  await access(join(home, 'service.db'));
});
