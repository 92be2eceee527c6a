import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { joinPacks } from '../../../src/service/background-work.ts';
import { createRepository } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, gitIn, remoteAt } from '../../support/git-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Two mirrors with many packs, and a git that does this in place of `repack`. */
async function mirrorsWith(repack: string) {
  const folder = temporaryFolder();
  const programs = join(folder, 'programs');
  await mkdir(programs);
  const script = `#!/bin/sh
PATH=\${PATH#*:}
for word; do [ "$word" = repack ] && ${repack}; done
exec git "$@"
`;
  await writeFile(join(programs, 'git'), script, { mode: 0o755 });
  const git = gitIn(folder, { PATH: `${programs}:${process.env['PATH']}` });
  const repository = createRepository(temporaryFolder());
  repository.commit({ branch: 'main', files: { a: '1' } });
  for (const workspace of ['one', 'other']) {
    await git.fetch(workspace, remoteAt(repository.path), branchNamed('main'), enoughTime);
    const packs = join(folder, 'mirrors', `${workspace}.git`, 'objects', 'pack');
    for (let index = 0; index < 20; index += 1) await writeFile(join(packs, `pack-${index}.pack`), '');
  }
  const stopping = new AbortController();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  return { stopping, lines, joined: joinPacks({ git, log, stopping: stopping.signal }) };
}

test('joining packs ends when the service stops', async () => {
  const begun = join(temporaryFolder(), 'begun');
  const { stopping, lines, joined } = await mirrorsWith(`touch '${begun}' && exec sleep 600`);
  await expect.poll(() => existsSync(begun)).toBe(true);
  stopping.abort();
  await joined;
  expect(lines).toEqual([]);
});

test('joining packs continues with the next mirror after a failure, which is logged', async () => {
  const { lines, joined } = await mirrorsWith('exit 1');
  await joined;
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(
    ['one', 'other'].map((workspace) => ({ workspace, msg: 'mirror maintenance failed' })),
  );
});
