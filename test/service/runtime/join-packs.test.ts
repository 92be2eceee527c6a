import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { expect, test } from 'vitest';
import { joinPacks } from '../../../src/service/background-work.ts';
import { createRepository } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, gitIn, remoteAt } from '../../support/git-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Two mirrors with many packs, and a git that does this in place of `repack`. */
async function mirrorsWith(repack: string, isLow = () => false) {
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
  const failedAt = new Map<string, number>();
  const again = () => joinPacks({ git, log, stopping: stopping.signal, freeDisk: freeDisk(isLow) }, failedAt);
  return { stopping, lines, joined: again(), again };
}

const freeDisk = (isLow: () => boolean) => ({ isLow, reserve: '1 GB', measure: async () => undefined });

test('joining packs ends when the service stops', async () => {
  const begun = join(temporaryFolder(), 'begun');
  const { stopping, lines, joined } = await mirrorsWith(`touch '${begun}' && exec sleep 600`);
  await expect.poll(() => existsSync(begun)).toBe(true);
  stopping.abort();
  await joined;
  expect(lines).toEqual([]);
});

test('joining packs continues with the next mirror after a failure, which is logged and not repeated soon', async () => {
  const { lines, joined, again } = await mirrorsWith('exit 1');
  await joined;
  await again();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(
    ['one', 'other'].map((workspace) => ({ workspace, msg: 'mirror maintenance failed' })),
  );
});

test('joining packs does not begin while the disk is nearly full', async () => {
  const { lines, joined } = await mirrorsWith('exit 1', () => true);
  await joined;
  expect(lines).toEqual([]);
});

test('joining packs ends while the disk fills up', async () => {
  const begun = join(temporaryFolder(), 'begun');
  const { lines, joined } = await mirrorsWith(`touch '${begun}' && exec sleep 600`, () => existsSync(begun));
  await joined;
  expect(lines).toEqual([expect.stringContaining('less than 1 GB is free')]);
});

test('joining packs leaves mirrors alone that a first fetch is creating', async () => {
  const git = gitIn(temporaryFolder(), {});
  const repository = createRepository(temporaryFolder());
  repository.commit({ branch: 'main', files: { a: '1' } });
  const log = pino({ level: 'silent' });
  const all = new AbortController();
  const joining = (async () => {
    while (!all.signal.aborted) {
      await joinPacks({ git, log, stopping: all.signal, freeDisk: freeDisk(() => false) }, new Map());
      await setImmediate();
    }
  })();
  for (let number = 0; number < 20; number += 1) {
    await git.fetch(`game-${number}`, remoteAt(repository.path), branchNamed('main'), enoughTime);
  }
  all.abort();
  await joining;
  expect(await git.listMirrors()).toHaveLength(20);
});
