import type { Mirror } from './bare-repository.ts';
import type { GitCommand } from './git-command.ts';
import { publishedFor } from './published-objects.ts';
import { inPublishedView, type Published, unnamedRefs } from './published-view.ts';
import type { Limits } from './run-git.ts';
import { serviceHeader, type UploadPackRequest } from './upload-pack-request.ts';

/** Protocol version of the client, from its `Git-Protocol` header. Undefined means the original version, 0. */
export type GitProtocol = 'version=1' | 'version=2' | undefined;

export interface ServeTask {
  readonly git: GitCommand;
  readonly mirror: Mirror;
  readonly branches: Published['branches'];
  readonly protocol: GitProtocol;
  readonly limits: Limits;
  /** Receives the response in chunks: see GitWork. */
  readonly onOutput: (chunk: Buffer) => Promise<void>;
  /** Receives the branches that are not served because the mirror lacks their commits. The list is usually empty. */
  readonly onLacking: (names: readonly string[]) => void;
}

/** Sends the capabilities of the service and, in earlier versions of the protocol, the branches. */
export async function advertise(task: ServeTask): Promise<void> {
  const { git, mirror, limits, branches, protocol, onOutput, onLacking } = task;
  const search = { git, repository: mirror.repository, limits };
  const published = await publishedFor(search, branches, [], async () => [], onLacking);
  let header = protocol === 'version=2' ? Buffer.alloc(0) : serviceHeader;
  const withHeader = (chunk: Buffer): Promise<void> => {
    const bytes = Buffer.concat([header, chunk]);
    header = Buffer.alloc(0);
    return onOutput(bytes);
  };
  await uploadPack({ ...task, onOutput: withHeader }, published, ['--http-backend-info-refs']);
}

/** `formerHeads` returns commits that were recently the heads of branches. */
export async function answerUploadPack(
  task: ServeTask,
  { wants, bytes }: UploadPackRequest,
  formerHeads: () => Promise<readonly string[]>,
): Promise<void> {
  const { git, mirror, limits, branches, onLacking } = task;
  const search = { git, repository: mirror.repository, limits };
  const published = await publishedFor(search, branches, wants, formerHeads, onLacking);
  await uploadPack(task, published, [], bytes);
}

/** See git-config(1). git uses one thread per clone, so that clones leave time for other work. */
const uploadPackSettings: Readonly<Record<string, string>> = {
  'uploadpack.allowFilter': 'true',
  // Other filters walk the complete history, or read their rules from an object that was not checked.
  'uploadpackfilter.allow': 'false',
  'uploadpackfilter.blob:none.allow': 'true',
  'uploadpackfilter.blob:limit.allow': 'true',
  'uploadpackfilter.tree.allow': 'true',
  'uploadpackfilter.tree.maxDepth': '0',
  'uploadpack.allowAnySHA1InWant': 'false',
  'uploadpack.allowReachableSHA1InWant': 'false',
  'uploadpack.allowTipSHA1InWant': 'true',
  'uploadpack.hideRefs': unnamedRefs,
  'pack.threads': '1',
  // New deltas would not make assets smaller. Existing deltas are sent unchanged.
  'pack.window': '0',
};

async function uploadPack(
  task: ServeTask,
  published: Published,
  args: readonly string[],
  input?: Buffer,
): Promise<void> {
  const { git, mirror, protocol, limits, onOutput } = task;
  await inPublishedView(mirror, published, (view) =>
    git(['upload-pack', '--strict', '--stateless-rpc', ...args, view], {
      purpose: 'serve the mirror',
      limits,
      repository: view,
      settings: uploadPackSettings,
      protocol,
      inBackground: true,
      onOutput,
      input,
    }),
  );
}
