import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { createRepository, gitAt } from '../git-repository.ts';
import { ourActionFile } from '../runner/action-file.ts';
import type { UsedStep } from './used-action.ts';

/** The folder of the files of `actions/checkout`. A path outside of the workspace is rejected, as in the real one. */
export async function checkoutFolder({ job, with: { path = '' } }: UsedStep): Promise<string> {
  const { workspace } = job.folders;
  const folder = resolve(workspace, path);
  if (folder !== workspace && !folder.startsWith(workspace + sep)) {
    throw new Error(`Repository path '${folder}' is not under '${workspace}'`);
  }
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Copies the files of this repository that a runner needs for `uses:` into a folder. */
export async function putActionInto(folder: string): Promise<void> {
  await cp(ourActionFile, join(folder, 'action.yml'));
  await cp(join(dirname(ourActionFile), 'dist'), join(folder, 'dist'), { recursive: true });
}

const actionFolder = dirname(ourActionFile);

/** The files of this repository that a runner needs, by path. */
async function actionFiles(): Promise<Readonly<Record<string, Buffer>>> {
  const entries = await readdir(join(actionFolder, 'dist'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const read = async (file: string): Promise<readonly [string, Buffer]> => [
    file.slice(actionFolder.length + 1).replaceAll(sep, '/'),
    await readFile(file),
  ];
  return Object.fromEntries(await Promise.all([ourActionFile, ...files].map(read)));
}

/** Files that the runner does not need, some with the names of needed ones. */
const otherFiles: Readonly<Record<string, string>> = {
  'README.md': 'Nothing of this is fetched for `uses:`.',
  'package.json': '{"type":"commonjs"}',
  'src/action/main.ts': 'throw new Error();',
  'docs/action.yml': 'name: an example',
  'test/dist/index.js': 'throw new Error();',
};

/**
 * Checks this repository out into an empty folder, with the inputs of `actions/checkout` for sparse checkouts and the
 * git commands that it runs: `git-source-provider.ts` and `git-command-manager.ts` of v7.
 */
export async function checkOutAction(folder: string, given: UsedStep['with']): Promise<void> {
  const remoteFolder = await mkdtemp(join(tmpdir(), 'action-repository-'));
  try {
    const remote = createRepository(remoteFolder);
    remote.commit({ branch: 'main', files: { ...otherFiles, ...(await actionFiles()) } });
    gitAt(folder, 'init', '--quiet');
    gitAt(folder, 'fetch', '--quiet', '--depth=1', remote.path, 'main');
    const patterns = (given['sparse-checkout'] ?? '').split('\n').filter((line) => line !== '');
    if (patterns.length > 0 && given['sparse-checkout-cone-mode'] === 'false') {
      gitAt(folder, 'config', 'core.sparseCheckout', 'true');
      await appendFile(join(folder, '.git/info/sparse-checkout'), `\n${patterns.join('\n')}\n`);
    } else if (patterns.length > 0) {
      gitAt(folder, 'sparse-checkout', 'set', ...patterns);
    }
    gitAt(folder, 'checkout', '--quiet', '--detach', 'FETCH_HEAD');
  } finally {
    await rm(remoteFolder, { recursive: true, force: true, maxRetries: 3 });
  }
}
