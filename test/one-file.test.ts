import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { visit } from './service/dashboard/browser-like.ts';
import { startCommand } from './support/service-process.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const built = join(import.meta.dirname, '../build/workspace-service.mjs');

test('one file in an empty folder is a service: sign in to its page, take a lock, see it there', async () => {
  const folder = temporaryFolder();
  const entry = join(folder, 'workspace-service.mjs');
  await copyFile(built, entry);
  const options = { cwd: folder, entry };
  const service = startCommand(['serve', '--dev', '--json', '--port', '0'], options);
  try {
    const started = JSON.parse(await service.line((line) => line.startsWith('{')));
    const url = new URL(started.sign_in_link);
    const visitor = visit({ baseUrl: url.origin });
    const link = url.searchParams.get('link') ?? '';
    expect((await visitor.post('/sign-in/link', { link })).status).toBe(303);
    const environment = {
      WORKSPACE_BASE_URL: started.base_url,
      WORKSPACE_TOKEN: started.token,
      WORKSPACE_ID: started.workspace,
    };
    const take = startCommand(['lock', 'take', 'Content/Hero.uasset'], { ...options, environment });
    expect(await take.ended()).toBe(0);
    const { text: html } = await visitor.get(`/workspaces/${started.workspace}/locks`);
    expect(html).toContain('Content/Hero.uasset');
    const [style = ''] = /\/assets\/[^"]+\.css/.exec(html) ?? [];
    expect((await visitor.get(style)).status).toBe(200);
  } finally {
    service.signal('SIGTERM');
    await service.ended();
  }
});

test('the file is a small download, and names the licenses of what it contains', async () => {
  const text = await readFile(built, 'utf8');
  expect(gzipSync(text).length).toBeLessThan(600_000);
  for (const name of ['hono', 'pg', 'zod']) expect(text).toMatch(new RegExp(`\n${name}\n\n.*License`, 'i'));
});
