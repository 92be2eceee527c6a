import { expect, test } from 'vitest';
import { lfsClientSettings } from '../../../src/service/lfs/client-settings.ts';
import { sqlite } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { signedIn } from './browser-like.ts';

const service = serviceOfTests();

test('Git LFS setup is linked from the locks, and shows all settings with the URL that the browser uses', async () => {
  const workspace = await service.workspace();
  const visitor = await signedIn(service, { scopes: ['locks:read'] });
  const address = `/workspaces/${workspace}/git-lfs`;
  expect((await visitor.get(`/workspaces/${workspace}/locks`)).text).toContain(`href="${address}"`);
  const { text } = await visitor.get(address);
  const { committed, perClone } = lfsClientSettings(service.baseUrl, workspace);
  expect(text).toContain(`<pre id="committed">${committed}</pre>`);
  expect(text).toContain(`<pre id="per-clone">${perClone.join('\n')}</pre>`);
  const behindProxy = await visitor.get(address, { 'x-forwarded-for': '192.0.2.1' });
  expect(behindProxy.text).toContain('has no public URL');
});

test('Git LFS setup shows the public URL of the service', async () => {
  const told = await startTestService(sqlite, { publicUrl: () => 'https://assets.example.com' });
  try {
    const workspace = await told.workspace();
    const { text } = await (await signedIn(told)).get(`/workspaces/${workspace}/git-lfs`);
    expect(text).toContain(`git config lfs.url https://assets.example.com/v1/workspaces/${workspace}/lfs`);
  } finally {
    await told.stop();
  }
});
