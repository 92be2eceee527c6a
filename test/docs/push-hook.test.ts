import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createGitServer } from '../cli/git-server.ts';
import { locksOf, sharedService } from '../service/http/shared-service.ts';
import { installCommand, readPage, runSnippet, section, snippets } from './pages.ts';

const service = sharedService();
const hero = 'Content/Hero.uasset';

let recipe: readonly [commands: string, key: string];
beforeAll(async () => {
  const refuse = section(await readPage('docs/locks.md'), 'Refuse pushes on the server');
  recipe = [snippets(refuse, 'sh')[0] ?? '', snippets(refuse, 'text')[0] ?? ''];
});

test('the commands for plain git install a hook that knows people by their ssh keys', async () => {
  const workspace = await service.workspace();
  const server = await createGitServer({ environment: {} });
  server.start({ [hero]: 'hero' });
  const file = join(server.folder, 'workspace-hook.env');
  const [commands, key] = recipe;
  await runSnippet(commands, {
    replaced: {
      ' --owner=git': '',
      '/etc/workspace-hook.env': file,
      '/srv/git/game.git': server.repository.path,
      'https://assets.example.com': service.baseUrl,
      '=game': `=${workspace}`,
      'wsa_...': (await service.token({ name: 'push-hook', scopes: ['locks:read'] })).secret,
    },
  });
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');

  const bin = dirname(await installCommand(join(server.folder, 'bin')));
  const [, forced = ''] = /^command="((?:\\"|[^"])*)"/.exec(key) ?? [];
  expect(forced).toContain('REMOTE_USER=ada');
  /** As sshd runs the command of a key. */
  function sshOf(person: string): NodeJS.ProcessEnv {
    const ssh = join(server.folder, `ssh-${person}`);
    const run = forced.replaceAll('\\"', '"').replace('=ada', `=${person}`);
    const script = `#!/bin/sh\nPATH='${bin}':$PATH\nfor last; do :; done\nexport SSH_ORIGINAL_COMMAND="$last"\n${run}\n`;
    writeFileSync(ssh, script, { mode: 0o755 });
    return { GIT_SSH_COMMAND: ssh };
  }

  const { secret } = await service.token({ name: 'laptop', owner: 'ada', scopes: ['locks:write'] });
  expect((await locksOf(service, workspace, secret).take(hero)).status).toBe(201);
  server.change({ [hero]: 'better' });
  expect(await server.run([server.address, 'main'], sshOf('bob'))).toEqual({
    code: 1,
    seen: expect.stringContaining(
      `The push of bob is refused: it changes 1 file that others have locked.\n${hero} is held by ada`,
    ),
  });
  expect(await server.run([server.address, 'main'], sshOf('ada'))).toMatchObject({ code: 0 });
});
