import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { needsClient } from '../service/lfs/desk.ts';
import { createRepository } from '../support/git-repository.ts';
import { freePort } from '../support/listen.ts';
import { measured } from '../support/measured.ts';
import { ask } from '../support/running-service.ts';
import { commandFile, runCommand, type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { startProcess } from '../support/started-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { readme, readPage, runSnippet, section, snippets, snippetWith } from './pages.ts';

/** What newcomers do first, by the commands of the documents alone, each in an empty folder and in a minute. */

const artists = await readPage('docs/artists.md');
const mostSeconds = 60;

const asInstalled = `workspace-service() { "${process.execPath}" "${commandFile}" "$@"; }\n`;

const secondsSince = (time: number): number => (performance.now() - time) / 1_000;

async function startForPeople(): Promise<ServiceProcess> {
  const service = await startServiceProcess();
  onTestFinished(async () => void (await service.stop()));
  return service;
}

const locksOf = async ({ baseUrl, token, workspace }: Pick<ServiceProcess, 'baseUrl' | 'token' | 'workspace'>) =>
  (await ask(baseUrl, 'GET', `/workspaces/${workspace}/locks`, { token })).body.locks;

test('a visitor with Node and one file has a lock in a minute', async () => {
  const [line = ''] = snippets(section(readme, 'Try it'), 'sh');
  expect(line).toBe('node workspace-service.mjs serve --dev\n');
  const cwd = temporaryFolder();
  await copyFile(commandFile, join(cwd, 'workspace-service.mjs'));
  const begun = performance.now();
  const [, ...args] = line.trim().split(' ');
  const port = String(await freePort());
  const environment = { PATH: process.env['PATH'], HOME: cwd, WORKSPACE_SERVICE_PORT: port };
  const service = startProcess([process.execPath, ...args], { env: environment, cwd, endSignal: 'SIGTERM' });
  onTestFinished(async () => {
    service.signal('SIGTERM');
    expect(await service.ended()).toBe(0);
  });
  const pasted = await service.stdout.until((text) => /(^ {2}export .*\n)+^ {2}curl (.*\\\n)+.*\n/m.exec(text)?.[0]);
  const answer = await runSnippet(pasted, { cwd });
  expect(JSON.parse(answer)).toMatchObject({ path: 'Content/Maps/Arena.umap', owner: 'dev' });
  measured('a visitor: seconds until the first lock', secondsSince(begun), { atMost: mostSeconds });
  const [, origin = ''] = /WORKSPACE_BASE_URL=(\S+)\/v1/.exec(pasted) ?? [];
  const [style = ''] = /\/assets\/[^"]+\.css/.exec((await ask(origin, 'GET', '/sign-in')).text) ?? [];
  expect((await ask(origin, 'GET', style)).status, 'the page of the service is in the file, too').toBe(200);
});

test('an artist locks a file in a terminal in a minute', async () => {
  const service = await startForPeople();
  const settings = snippetWith(artists, 'read -rs WORKSPACE_TOKEN');
  const [take = ''] = snippetWith(artists, 'lock take').split('\n');
  const cwd = temporaryFolder();
  const begun = performance.now();
  const output = await runSnippet(asInstalled + settings + take, {
    cwd,
    environment: { HOME: cwd },
    replaced: {
      'https://assets.example.com/v1': service.baseUrl,
      'WORKSPACE_ID=game': `WORKSPACE_ID=${service.workspace}`,
      'read -rs WORKSPACE_TOKEN': `read -rs WORKSPACE_TOKEN <<<'${service.token}'`,
    },
  });
  expect(output).toContain('Locked Content/Hero.uasset');
  measured('an artist in a terminal: seconds until the first lock', secondsSince(begun), { atMost: mostSeconds });
  expect(await locksOf(service)).toHaveLength(2);
});

test('an artist locks a file with Git LFS in a minute', async (context) => {
  needsClient(context);
  const service = await startForPeople();
  const [once = '', lock = ''] = snippets(section(artists, 'With git'), 'sh');
  const cwd = temporaryFolder();
  const project = createRepository(cwd);
  project.commit({ branch: 'main', files: { 'Content/Hero.uasset': 'hero' } });
  const { origin, hostname } = new URL(service.baseUrl);
  const asked = ['workspace', 'lfs', service.workspace, '--public-url', origin];
  const { stdout } = await runCommand(asked, { folder: service.folder });
  const ofOperator = stdout.split('\n').filter((line) => line.startsWith('git config '));
  expect(ofOperator).toHaveLength(2);
  await writeFile(join(cwd, '.netrc'), `machine ${hostname} login me password ${service.token}\n`, { mode: 0o600 });
  const begun = performance.now();
  const commands = [once, `git clone --quiet ${project.path} clone && cd clone`, ...ofOperator, lock];
  const output = await runSnippet(commands.join('\n'), { cwd, environment: { HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' } });
  expect(output).toContain('Locked Content/Hero.uasset');
  measured('an artist with Git LFS: seconds until the first lock', secondsSince(begun), { atMost: mostSeconds });
  expect(await locksOf(service)).toHaveLength(1);
});
