import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { startTestService } from '../../support/running-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** An environment with a git whose `repack` never ends. */
async function environmentOfEndlessRepacks(): Promise<NodeJS.ProcessEnv> {
  const folder = temporaryFolder();
  const script = `#!/bin/sh
PATH=\${PATH#*:}
for word; do [ "$word" = repack ] && exec sleep 600; done
exec git "$@"
`;
  await writeFile(join(folder, 'git'), script, { mode: 0o755 });
  return { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
}

test('maintenance of a mirror uses no sync slot, and ends when the service stops', async () => {
  const environment = await environmentOfEndlessRepacks();
  const service = await startTestService(sqlite, { parallelSyncs: 1, environment });
  onTestFinished(service.stop);
  const { secret: token } = await service.token({ scopes: ['sync'] });
  for (let turn = 0; turn < 2; turn += 1) {
    const repository = createRepository(temporaryFolder());
    repository.commit({ branch: 'main', files: { a: '1' } });
    const path = `/v1/workspaces/${await service.workspace(repository.path)}/sync`;
    const { headers } = await service.ask('POST', path, { token, json: { branch: 'main' } });
    await expect
      .poll(async () => (await service.ask('GET', headers.get('location') ?? '', { token })).body.status, {
        timeout: 20_000,
      })
      .toBe('succeeded');
  }
});
