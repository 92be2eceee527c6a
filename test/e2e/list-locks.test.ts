import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { json } from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { startJob } from '../support/runner/start-job.ts';
import { collapseGroups } from '../support/runner/step-log.ts';
import { stable, stableAll } from '../support/stable.ts';
import { openScene } from './scene.ts';

const scene = openScene();

/** A workspace with three locks of two people. */
async function lockedWorkspace(): Promise<string> {
  const workspace = await scene.service.workspace();
  await scene.lock(workspace, 'Content/Hero.uasset', { name: 'ada' });
  await scene.lock(workspace, 'Content/Maps/Arena.umap');
  await scene.lock(workspace, 'Content/Rock[1].fbx');
  return workspace;
}

const pathsIn = (locks: string | undefined): readonly string[] =>
  JSON.parse(locks ?? '').map(({ path }: { readonly path: string }) => path);

describe('the list', () => {
  test('has every lock of the workspace', async () => {
    const workspace = await lockedWorkspace();
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'list-locks' } });
    expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [], state: {} });
    expect(result.outputs).toMatchObject({ status: 'locked', count: '3' });
    const [hero] = JSON.parse(stableAll(result.outputs)['locks'] ?? '');
    expect(hero).toMatchInlineSnapshot(`
      {
        "acquired_at": "<time>",
        "expires_at": "<time>",
        "fence": 1,
        "id": "<lock>",
        "origin": "https://github.com/octo-games/dragon/actions/runs/7",
        "owner": "ada",
        "path": "Content/Hero.uasset",
        "type": "exclusive",
      }
    `);
    expect(stable(result.log)).toMatchInlineSnapshot(`
      "##[group]3 locks in <workspace>.
        Content/Hero.uasset is held by ada until <clock> (<distance>), taken by https://github.com/octo-games/dragon/actions/runs/7
        Content/Maps/Arena.umap is held by grace until <clock> (<distance>), taken by https://github.com/octo-games/dragon/actions/runs/7
        Content/Rock[1].fbx is held by grace until <clock> (<distance>), taken by https://github.com/octo-games/dragon/actions/runs/7
      ##[endgroup]"
    `);
    expect(stable(result.summary)).toMatchInlineSnapshot(`
      "<h3>Workspace: list-locks</h3>
      <p>3 locks in <workspace>.</p>
      <table>
      <tr><th>Path</th><th>Holder</th><th>Until</th><th></th><th>Taken by</th></tr>
      <tr><td>Content/Hero.uasset</td><td>ada</td><td><clock></td><td><distance></td><td>https://github.com/octo-games/dragon/actions/runs/7</td></tr>
      <tr><td>Content/Maps/Arena.umap</td><td>grace</td><td><clock></td><td><distance></td><td>https://github.com/octo-games/dragon/actions/runs/7</td></tr>
      <tr><td>Content/Rock[1].fbx</td><td>grace</td><td><clock></td><td><distance></td><td>https://github.com/octo-games/dragon/actions/runs/7</td></tr>
      </table>

      "
    `);
  });

  test('of nothing is free', async () => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'list-locks', 'fail-if-locked': 'true' } });
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'free', count: '0', locks: '[]' } });
    expect(stable(result.log)).toMatchInlineSnapshot(`"Nothing is locked in <workspace>."`);
    expect(stable(result.summary)).toMatchInlineSnapshot(`
      "<h3>Workspace: list-locks</h3>
      <p>Nothing is locked in <workspace>.</p>

      "
    `);
  });

  test.each([
    ['a path', 'Content/Hero.uasset', ['Content/Hero.uasset']],
    ['a path that is free', 'Content/Free.uasset', []],
    ['a pattern', 'Content/**/*.umap', ['Content/Maps/Arena.umap']],
    ['the name of a file', 'Content/Rock[1].fbx\nContent/Hero.uasset', ['Content/Hero.uasset', 'Content/Rock[1].fbx']],
    ['many paths', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'Content/Hero.uasset'].join('\n'), ['Content/Hero.uasset']],
  ])('is of %s where that is given', async (_name, path, expected) => {
    const workspace = await lockedWorkspace();
    const job = await scene.job({ workspace });
    for (const file of ['Content/Maps/Arena.umap', 'Content/Maps/Free.umap', 'Content/Rock[1].fbx']) {
      await mkdir(dirname(join(job.folders.workspace, file)), { recursive: true });
      await writeFile(join(job.folders.workspace, file), '');
    }
    const { outputs } = await job.run({ with: { operation: 'list-locks', path } });
    expect(pathsIn(outputs['locks'])).toEqual(expected);
    expect(outputs).toMatchObject({ status: expected.length > 0 ? 'locked' : 'free', count: String(expected.length) });
  });

  test('leaves out the locks of owners that do not count', async () => {
    const workspace = await lockedWorkspace();
    const job = await scene.job({ workspace });
    const one = await job.run({ with: { operation: 'list-locks', 'ignore-owner': 'grace' } });
    expect(pathsIn(one.outputs['locks'])).toEqual(['Content/Hero.uasset']);
    const none = await job.run({
      with: { operation: 'list-locks', 'ignore-owner': 'grace\nada', 'fail-if-locked': 'true' },
    });
    expect(none).toMatchObject({ conclusion: 'success', outputs: { status: 'free', count: '0' } });
    expect(stable(none.log)).toMatchInlineSnapshot(
      `"Nothing is locked in <workspace>, apart from 3 locks of ignored owners."`,
    );
  });

  test('is refused to a token without the scope for it', async () => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace, scopes: ['sync'] });
    const result = await job.run({ with: { operation: 'list-locks' } });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
    expect(stable(result.log)).toMatchInlineSnapshot(
      `"##[error]This needs the scope locks:read, and the token has only sync. Use a token that has the scope locks:read (GET /v1/workspaces/<workspace>/locks: 403 Forbidden, request id <request>)."`,
    );
  });
});

describe('with fail-if-locked', () => {
  test('each locked file has an annotation', async () => {
    const workspace = await lockedWorkspace();
    const job = await scene.job({ workspace });
    const result = await job.run({
      with: { operation: 'list-locks', 'fail-if-locked': 'true', 'ignore-owner': 'ada' },
    });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: { status: 'locked', count: '2' } });
    expect(
      result.annotations.map((annotation) => ({ ...annotation, message: stable(annotation.message) })),
    ).toMatchInlineSnapshot(`
      [
        {
          "by": "action",
          "level": "error",
          "message": "2 files are locked, and \`fail-if-locked\` is set.",
        },
        {
          "by": "action",
          "file": "Content/Maps/Arena.umap",
          "level": "error",
          "message": "Content/Maps/Arena.umap is held by grace until <clock> (<distance>), taken by https://github.com/octo-games/dragon/actions/runs/7.",
          "title": "Locked",
        },
        {
          "by": "action",
          "file": "Content/Rock[1].fbx",
          "level": "error",
          "message": "Content/Rock[1].fbx is held by grace until <clock> (<distance>), taken by https://github.com/octo-games/dragon/actions/runs/7.",
          "title": "Locked",
        },
      ]
    `);
  });

  test('there are ten annotations at the most, and the rest is counted', async () => {
    const locks = Array.from({ length: 40 }, (_, number) => ({ path: `${number}.uasset`, owner: 'ada' }));
    const server = await startOtherServer(json(200, { locks }));
    const job = await startJob();
    const result = await job.run({
      with: {
        operation: 'list-locks',
        'base-url': server.baseUrl,
        token: 'wsa_x',
        workspace: 'game',
        'fail-if-locked': 'true',
        ttl: '9h',
      },
    });
    expect(result.outputs).toMatchObject({ count: '40' });
    expect(result.annotations).toHaveLength(10);
    expect(result.annotations.at(-1)?.message).toMatch(/^And 3\d more of these: see the log of the step\.$/);
    expect(result.annotations.filter(({ file }) => file !== undefined)).toHaveLength(7);
    expect(result.log).toContain('39.uasset is held by ada');
  });
});

test('a thousand locks are a short log, and an output that is too large names no file that is not there', async () => {
  const locks = Array.from({ length: 1_000 }, (_, number) => ({
    path: `Content/Maps/${String(number).padStart(4, '0')}.umap`,
    owner: 'ada',
    comment: 'x'.repeat(100),
  }));
  const server = await startOtherServer(json(200, { locks }));
  const job = await startJob();
  const result = await job.run({
    with: { operation: 'list-locks', 'base-url': server.baseUrl, token: 'wsa_x', workspace: 'game' },
  });
  expect(result).toMatchObject({ conclusion: 'success', outputs: { count: '1000', locks: '' } });
  expect(collapseGroups(result.log).split('\n')).toEqual([
    '##[group]1,000 locks in game.',
    '##[warning]The output `locks` is too large for a step and has been left empty.',
  ]);
  expect(result.log.split('\n').length).toBeLessThan(120);
});
