import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedService } from '../service/http/shared-service.ts';
import { runCommand } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const service = sharedService();

test.each([
  { name: 'check', args: ['Content/Hero.uasset'] },
  { name: 'take', args: ['Content/Hero.uasset'] },
  { name: 'ask', args: ['Content/Hero.uasset'] },
  { name: 'run', args: ['Content/Hero.uasset', '--', 'true'] },
])('lock $name compiles no part of the service, such as its storage', async ({ name, args }) => {
  const coverage = temporaryFolder();
  const environment = { NODE_V8_COVERAGE: coverage, WORKSPACE_TOKEN: 'wsa_x', WORKSPACE_ID: 'game' };
  await runCommand(['lock', name, ...args], {
    environment: { ...environment, WORKSPACE_BASE_URL: `${service.baseUrl}/v1` },
  });
  // `lock run` starts another process.
  const parts = readdirSync(coverage).flatMap((file) => {
    const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(join(coverage, file), 'utf8'));
    return result.flatMap(({ url }) => /^\.\/(.*)-[\w-]{8}\.js$/.exec(url)?.[1] ?? []);
  });
  expect(parts).toContain('lock-commands');
  for (const part of ['operator-commands', 'serve', 'migrate', 'postgres']) expect(parts).not.toContain(part);
});
