import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openScene } from '../e2e/scene.ts';
import { needsClient } from '../service/lfs/desk.ts';
import { createRepository } from '../support/git-repository.ts';
import { nameOf, pointerTo, startLfsStore } from '../support/lfs-store.ts';
import { type GitHubApiOptions, notAccessible, startGitHubApi } from '../support/other-servers/github-api.ts';
import { type JobEvent, pullRequestEvent, pushEvent } from '../support/runner/github-context.ts';
import { storePoolFile } from '../support/stored-pool.ts';
import { storeWorkspace } from '../support/stored-rows.ts';
import { folderOfTests, temporaryFolder } from '../support/temporary-folder.ts';
import {
  runWorkflowJob,
  startWorkflowJob,
  type WorkflowJobOptions,
  type WorkflowJobResult,
} from '../workflows/job-runner.ts';
import { parseWorkflow } from '../workflows/workflow-file.ts';
import { actionPage, codeIn, readme, recipes, section, snippets, snippetWith, tableRows, workflow } from './pages.ts';

const hero = 'Content/Hero.uasset';
const arena = 'Content/Maps/Arena.umap';
const cave = 'Content/Maps/Cave.umap';

const scene = openScene({ publicUrl: (port) => `http://127.0.0.1:${port}` });
const remote = createRepository(folderOfTests());

beforeAll(async () => {
  remote.commit({ branch: 'main', files: { [hero]: 'hero', [arena]: 'arena', [cave]: 'cave' } });
  remote.git('branch', 'topic', 'main');
  const { storage } = scene.service;
  await storeWorkspace(storage, { id: 'game', remote: remote.path });
});

const locked = () => scene.locked('game');
const release = (path: string) => scene.release('game', path);
/** Held by grace unless another name is given. */
const lock = (path: string, name = 'grace') => scene.lock('game', path, { name });

afterEach(async () => {
  for (const path of await locked()) await release(path);
});

/** A script of the checked-out project: it prints its variables and the current locks. */
const telling = (baseUrl: string, token: string): string => `#!/usr/bin/env node
const told = ['SEAT', 'WORKSPACE', 'BRANCH', 'COMMIT'].filter((name) => name in process.env);
for (const name of told) console.log(name + ' ' + process.env[name]);
fetch('${baseUrl}/v1/workspaces/game/locks', { headers: { authorization: 'Bearer ${token}' } })
  .then((answer) => answer.json())
  .then(({ locks }) => console.log('locked: ' + locks.map(({ path }) => path).join(' ')));
`;

/** The context of a recipe: variables, secrets, and a checkout whose scripts print the current locks. */
async function given(script?: string, assets: readonly string[] = [hero, arena, cave]) {
  const { baseUrl } = scene.service;
  const scopes = ['sync', 'locks:write', 'hooks:write'] as const;
  const { secret } = await scene.service.token({ name: 'release-bot', scopes });
  const reading = await scene.service.token({ scopes: ['locks:read'] });
  /** The artifacts of the run, with the name and the content of their one file. */
  const artifacts = new Map<string, readonly [file: string, content: string]>();
  const uses: WorkflowJobOptions['uses'] = {
    async 'actions/upload-artifact'({ with: { name = '', path = '', overwrite } }) {
      if (artifacts.has(name) && overwrite !== 'true') throw new Error(`(409) Conflict: ${name}`);
      artifacts.set(name, [basename(path), await readFile(path, 'utf8')]);
      return undefined;
    },
    async 'actions/download-artifact'({ with: { name = '', path = '' } }) {
      const [file, content] = artifacts.get(name) ?? [];
      if (file === undefined || content === undefined) throw new Error(`Artifact not found for name: ${name}`);
      await writeFile(join(path, file), content);
      return undefined;
    },
    async 'actions/checkout'({ job }) {
      for (const asset of assets) {
        const file = join(job.folders.workspace, asset);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, '');
      }
      for (const name of ['release.sh', 'upload.sh', 'build.sh', 'test.sh']) {
        const file = join(job.folders.workspace, name);
        await writeFile(file, script ?? telling(baseUrl, reading.secret));
        await chmod(file, 0o755);
      }
      return undefined;
    },
  };
  return { vars: { WORKSPACE_BASE_URL: `${baseUrl}/v1` }, secrets: { WORKSPACE_TOKEN: secret }, uses };
}

const recipe = (name: string) => parseWorkflow(workflow(name));
const run = async (name: string, more: Partial<WorkflowJobOptions> = {}): Promise<WorkflowJobResult> =>
  runWorkflowJob({ workflow: recipe(name), ...(await given()), ...more });

/** A log as GitHub shows it with closed groups, without line breaks, and without what differs in each run. */
const shapeOf = (log: string): string =>
  log
    .replaceAll(/^(?: {2}.*|##\[endgroup\])$/gm, '')
    .replaceAll('##[group]', '')
    .replaceAll(/https:\/\/\S+\/runs\/\d+/g, 'RUN')
    .replaceAll(/(?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC/g, 'TIME')
    .replaceAll(/\d+(\.\d+)? (h|min|s)\b/g, 'SPAN')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/SPAN( SPAN)+/g, 'SPAN')
    .trim();

const withoutTrouble = { result: 'success', annotations: [] };

test('"A license seat out of a pool" waits while all seats are held, with a log like that of the README, and gets the seat that becomes free', async () => {
  const [seats = ''] = /\[.*\]/s.exec(snippetWith(readme, 'pool add')) ?? [];
  await storePoolFile(scene.service.storage, 'game', 'unity-pro', seats);
  const [more = ''] = /\[.*\]/s.exec(snippetWith(recipes, 'pool add')) ?? [];
  await storePoolFile(scene.service.storage, 'game', 'with-hosts', more);
  await lock('seats/1', 'ada');
  await lock('seats/2', 'release-bot');
  const job = await startWorkflowJob({ workflow: recipe('A license seat out of a pool'), ...(await given()) });
  const step = await job.begun('seat');
  await step.waitForLog('Waiting,');
  await release('seats/2');
  const result = await job.finished;
  expect(result).toMatchObject(withoutTrouble);
  const [shown = ''] = snippets(section(readme, 'Workspace Automation'), 'text');
  expect(shapeOf(result.step('seat').log)).toEqual(shapeOf(shown));
  expect(result.step('Run ./build.sh').log).toContain(`SEAT {"seats/2":{"serial":"***"}}`);
  expect(await locked()).toEqual(['seats/1']);
});

test('"One machine that several runners share" holds the machine for the tests, not for the build', async () => {
  const result = await run('One machine that several runners share');
  expect(result).toMatchObject(withoutTrouble);
  expect(result.step('Run ./build.sh').log).toBe('locked: ');
  expect(result.step('Run ./test.sh').log).toBe('locked: machines/bench-1');
  expect(await locked()).toEqual([]);
});

test('"An asset that a release rewrites" holds the lock while the script runs, and no longer when the job has ended', async () => {
  const result = await run('An asset that a release rewrites');
  expect(result).toMatchObject(withoutTrouble);
  expect(result.step('Run ./release.sh').log).toBe(`locked: ${hero}`);
  expect(await locked()).toEqual([]);
});

/** A script that releases a lock of the job by force. */
const releasing = (baseUrl: string, token: string, path: string): string => `#!/usr/bin/env node
const address = '${baseUrl}/v1/workspaces/game/locks/${encodeURIComponent(path)}?force=true';
fetch(address, { method: 'DELETE', headers: { authorization: 'Bearer ${token}' } });
`;

test('"An asset that a release rewrites" uploads nothing if the job has lost its lock', async () => {
  const { secret } = await scene.service.token({ scopes: ['locks:admin'] });
  const more = await given(releasing(scene.service.baseUrl, secret, hero));
  const result = await run('An asset that a release rewrites', more);
  expect(result.result).toBe('failure');
  expect(result.step('Run ./release.sh').outcome).toBe('success');
  expect(result.log).toContain(`This job lost its lock on ${hero}. Someone released it before it expired.`);
  expect(result.step('Run ./upload.sh').outcome).toBe('skipped');
});

type Given = Awaited<ReturnType<typeof given>>;

/** The jobs of a run of the recipe, one by one. */
function openRun(more: Given) {
  const runJob = (job: string, needs: WorkflowJobOptions['needs'] = {}) => run('Across jobs', { ...more, job, needs });
  const needed = ({ result, outputs }: WorkflowJobResult) => ({ result, outputs });
  return {
    lock: () => runJob('lock'),
    build: (lockJob: WorkflowJobResult) => runJob('build', { lock: needed(lockJob) }),
    unlock: (lockJob: WorkflowJobResult, build: WorkflowJobResult['result']) =>
      runJob('unlock', { lock: needed(lockJob), build: { result: build } }),
  };
}

test.each(['success', 'cancelled'] as const)(
  '"Across jobs" holds the locks from the first job to the last, and releases them if the job in between ends with %s',
  async (outcome) => {
    const jobs = openRun(await given());
    const first = await jobs.lock();
    expect(first).toMatchObject(withoutTrouble);
    const second = await jobs.build(first);
    expect(second.step('Run ./build.sh').log).toBe(`locked: ${hero} ${arena} ${cave}`);
    expect(await locked()).toEqual([hero, arena, cave]);
    expect(await jobs.unlock(first, outcome)).toMatchObject(withoutTrouble);
    expect(await locked()).toEqual([]);
  },
);

describe('"Build from the mirror"', () => {
  test('builds the commit of the run with a job that knows only the service, not the remote', async () => {
    const more = await given();
    const script = telling(scene.service.baseUrl, more.secrets.WORKSPACE_TOKEN);
    remote.commit({ branch: 'main', files: { 'build.sh': script } });
    const after = remote.head('main');
    remote.commit({ branch: 'main', files: { 'build.sh': '#!/bin/sh\necho another commit\n' } });
    const result = await run('Build from the mirror', { ...more, event: pushEvent('main', { after }) });
    expect(result).toMatchObject(withoutTrouble);
    expect(result.step('Run ./build.sh').log).toBe('locked: ');
  });

  test('downloads the LFS objects of the mirror, and asks no store that the repository names', async (context) => {
    needsClient(context);
    const folder = temporaryFolder();
    const [store, other] = [await startLfsStore(), await startLfsStore()];
    onTestFinished(async () => {
      for (const { close } of [store, other]) await close();
    });
    for (const { behaviour, put } of [store, other]) {
      behaviour.public = true;
      put('the hero');
    }
    const repository = createRepository(folder);
    repository.commit({
      branch: 'main',
      files: {
        '.gitattributes': '*.uasset filter=lfs -text\n',
        '.lfsconfig': `[lfs]\n\turl = ${other.url}\n`,
        [hero]: pointerTo(nameOf('the hero')),
        'build.sh': `#!/bin/sh\ncat ${hero}\n`,
      },
    });
    const workspace = await scene.service.workspace(repository.path, { lfs_url: store.url });
    // As on GitHub-hosted runners, where git-lfs is installed for all users.
    const settings = join(folder, 'gitconfig');
    await writeFile(settings, '[filter "lfs"]\n\tprocess = git-lfs filter-process\n\trequired = true\n');
    const text = workflow('Build from the mirror').replaceAll('workspace: game', `workspace: ${workspace}`);
    const result = await runWorkflowJob({
      workflow: parseWorkflow(text),
      ...(await given()),
      env: { GIT_CONFIG_GLOBAL: settings },
      event: pushEvent('main', { after: repository.head('main') }),
    });
    expect(result).toMatchObject(withoutTrouble);
    expect(result.step('Run ./build.sh').log).toBe('the hero');
    expect([...other.authorizations, ...other.downloads]).toEqual([]);
  });
});

describe('"Refuse a pull request that touches locked files"', () => {
  const pull_request = { number: 7, head: { ref: 'topic' }, base: { ref: 'main' }, user: { login: 'ada' } };
  const byAda = pullRequestEvent({ number: 7, head: 'topic', payload: { pull_request } });
  async function check(options: GitHubApiOptions, event: JobEvent = byAda): Promise<WorkflowJobResult> {
    const { apiUrl } = await startGitHubApi(options);
    return run('Refuse a pull request that touches locked files', { event, run: { apiUrl } });
  }
  const changing = (filename: string): GitHubApiOptions => ({
    pulls: { 7: [{ filename, status: 'modified' }] },
  });

  test('fails for a locked file, but not for locks of the author or on unchanged files', async () => {
    await lock(hero, 'ada');
    await lock(arena);
    expect(await check(changing(hero))).toMatchObject(withoutTrouble);
    const { result, annotations } = await check(changing(arena));
    expect(result).toBe('failure');
    expect(annotations).toContainEqual(expect.objectContaining({ level: 'error', file: arena }));
  });

  test.each([
    ['in a pull request', byAda],
    ['in a push', pushEvent('main', { before: '1'.repeat(40), after: '2'.repeat(40) })],
  ])('needs %s the permission in the table of permissions', async (what, event) => {
    const rows = tableRows(section(actionPage, 'Scopes and permissions'), 'Step');
    const [, permission = ''] = rows.find(([step]) => step?.includes(what)) ?? [];
    const { result, log } = await check({ instead: () => notAccessible }, event);
    expect(result).toBe('failure');
    expect(codeIn(permission)).toHaveLength(1);
    expect(log).toContain(permission);
  });
});
