import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll } from 'vitest';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { openScene, type Scene } from '../e2e/scene.ts';
import { temporaryDataFolder } from '../support/databases.ts';
import { createRepository, type Repository } from '../support/git-repository.ts';
import type { WorkflowJobOptions } from '../support/workflow/job-runner.ts';
import { parseWorkflow } from '../support/workflow/workflow-file.ts';
import { workflow } from './pages.ts';

export const hero = 'Content/Hero.uasset';
export const arena = 'Content/Maps/Arena.umap';
export const cave = 'Content/Maps/Cave.umap';

/** The workspace of the recipes, at a service of its own. */
export interface Game extends Pick<Scene, 'service'> {
  readonly remote: Repository;
  /** What a recipe needs: variables, secrets, and a checkout whose scripts print what is locked while they run. */
  given(changes?: { readonly script?: string }): Promise<Pick<WorkflowJobOptions, 'vars' | 'secrets' | 'uses'>>;
  /** Held by grace unless another name is given. */
  lock(path: string, name?: string): Promise<void>;
  release(path: string): Promise<void>;
  locked(): Promise<readonly string[]>;
}

/** A script of the checked-out project: it prints its variables, and what is locked at that moment. */
const telling = (baseUrl: string, token: string): string => `#!/usr/bin/env node
const told = ['WAITED_SECONDS', 'WORKSPACE', 'BRANCH', 'COMMIT'].filter((name) => name in process.env);
for (const name of told) console.log(name + ' ' + process.env[name]);
fetch('${baseUrl}/v1/workspaces/game/locks', { headers: { authorization: 'Bearer ${token}' } })
  .then((answer) => answer.json())
  .then(({ locks }) => console.log('locked: ' + locks.map(({ path }) => path).join(' ')));
`;

export function openGame(): Game {
  const scene = openScene({ allowedNetworks: ['127.0.0.0/8'] });
  let remote: Repository | undefined;
  beforeAll(async () => {
    const { folder, remove } = await temporaryDataFolder();
    const repository = createRepository(folder);
    repository.commit({ branch: 'main', files: { [hero]: 'hero', [arena]: 'arena', [cave]: 'cave' } });
    repository.git('branch', 'topic', 'main');
    remote = repository;
    const { storage } = scene.service;
    await storage.commit('global', (db) => addWorkspace(db, storage.now, { id: 'game', remote: repository.path }));
    return remove;
  });
  return {
    get service() {
      return scene.service;
    },
    get remote() {
      if (remote === undefined) throw new Error('The repository is not there yet.');
      return remote;
    },
    async given({ script } = {}) {
      const { baseUrl } = scene.service;
      const { secret } = await scene.service.token({
        name: 'release-bot',
        scopes: ['sync', 'locks:write', 'hooks:write'],
      });
      const reading = await scene.service.token({ scopes: ['locks:read'] });
      const ofProject = script ?? telling(baseUrl, reading.secret);
      return {
        vars: { WORKSPACE_BASE_URL: `${baseUrl}/v1` },
        secrets: { WORKSPACE_TOKEN: secret },
        uses: {
          async 'actions/checkout'({ job }) {
            for (const asset of [hero, arena, cave]) {
              await mkdir(dirname(join(job.folders.workspace, asset)), { recursive: true });
              await writeFile(join(job.folders.workspace, asset), '');
            }
            for (const name of ['release.sh', 'upload.sh', 'bake.sh', 'build.sh']) {
              await writeFile(join(job.folders.workspace, name), ofProject);
              await chmod(join(job.folders.workspace, name), 0o755);
            }
            return undefined;
          },
        },
      };
    },
    lock: (path, name) => scene.lock('game', path, name === undefined ? {} : { name }),
    release: (path) => scene.release('game', path),
    locked: () => scene.locked('game'),
  };
}

export const recipe = (name: string) => parseWorkflow(workflow(name));
