import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBorrowingRepository } from './bare-repository.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import { type ClientTask, checkWants } from './published-objects.ts';
import { withScratchFolder } from './scratch.ts';
import { serviceHeader } from './upload-pack-request.ts';

/** Protocol version of the client, from its `Git-Protocol` header. Undefined means the original version, 0. */
export type GitProtocol = 'version=1' | 'version=2' | undefined;

export interface ServeTask extends ClientTask {
  /** The branch that clones check out, if it is served. */
  readonly defaultBranch: BranchName;
  readonly protocol: GitProtocol;
  /** Receives the response in chunks: see GitWork. */
  readonly onOutput: (chunk: Buffer) => Promise<void>;
}

/**
 * Serves objects of the mirror if all of them are reachable from branches of the task or from former heads. Without a
 * request, sends the capabilities of the service and, in earlier versions of the protocol, the branches.
 */
export async function serveMirror(task: ServeTask): Promise<void> {
  const { git, limits, request, protocol, onOutput } = task;
  await checkWants(task);
  let header = request === undefined && protocol !== 'version=2' ? serviceHeader : undefined;
  const args = request === undefined ? ['--http-backend-info-refs'] : [];
  await withPublishedView(task, (view) =>
    git(['upload-pack', '--strict', '--stateless-rpc', ...args, view], {
      purpose: 'serve the mirror',
      limits,
      repository: view,
      settings: uploadPackSettings,
      protocol,
      inBackground: true,
      onOutput(chunk) {
        const bytes = header === undefined ? chunk : Buffer.concat([header, chunk]);
        header = undefined;
        return onOutput(bytes);
      },
      input: request?.bytes,
    }),
  );
}

/** A temporary repository with the objects of the mirror and exactly the branches of the task, even during syncs. */
const withPublishedView = ({ mirror, branches, defaultBranch }: ServeTask, use: (view: string) => Promise<unknown>) =>
  withScratchFolder(mirror.scratch, async (folder) => {
    const view = join(folder, 'published.git');
    await createBorrowingRepository(view, mirror, defaultBranch);
    const refs = [...branches].map(([name, head]) => `${head} ${branchRef(name)}\n`);
    await writeFile(join(view, 'packed-refs'), refs.join(''));
    await use(view);
  });

/** See git-config(1). git uses one thread per clone, so that clones leave time for other work. */
const uploadPackSettings: Readonly<Record<string, string>> = {
  'uploadpack.allowFilter': 'true',
  // Other filters walk the complete history, or read their rules from an object that was not checked.
  'uploadpackfilter.allow': 'false',
  'uploadpackfilter.blob:none.allow': 'true',
  'uploadpackfilter.blob:limit.allow': 'true',
  'uploadpackfilter.tree.allow': 'true',
  'uploadpackfilter.tree.maxDepth': '0',
  // checkWants() has checked the wants.
  'uploadpack.allowAnySHA1InWant': 'true',
  'pack.threads': '1',
  // New deltas would not make assets smaller. Existing deltas are sent unchanged.
  'pack.window': '0',
};
