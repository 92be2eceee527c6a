import { expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { signedIn } from './browser-like.ts';
import { takeLock } from './locked-service.ts';

const service = serviceOfTests();

test('the start page checks off the first steps of a new service, and hides them once all are done', async () => {
  const admin = await signedIn(service, { name: 'root', scopes: ['admin'] });
  const steps = async () => {
    const { text } = await admin.get('/');
    const [, section] = /<section aria-labelledby="setup">(.*?)<\/section>/s.exec(text) ?? [];
    return section
      ?.split('<li')
      .slice(1)
      .map((step) => step.includes('Done:'));
  };
  expect(await steps()).toEqual([false, false, false]);
  const workspace = await service.workspace();
  expect(await steps()).toEqual([true, false, false]);
  expect((await admin.get('/')).text).toContain(`href="/workspaces/${workspace}/locks/new"`);
  const artist = await service.token({ name: 'ada', scopes: ['locks:write'] });
  expect(await steps()).toEqual([true, true, false]);
  await takeLock(service, workspace, artist.secret, 'Content/Hero.uasset');
  expect(await steps()).toBeUndefined();
});

test('the first steps are shown only to administrators', async () => {
  const reader = await signedIn(service, { scopes: ['locks:read'], workspaces: ['gone'] });
  expect((await reader.get('/')).text).not.toContain('First steps');
});
