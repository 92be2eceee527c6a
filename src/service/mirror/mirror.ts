import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { Refusal } from '../contract/problem.ts';
import type { Git } from '../git/git.ts';
import { shownRemote } from '../git/remote.ts';
import { type AccessControl, byBearerOrPassword, requireAccess } from '../http/access.ts';
import { type App, bearerOf, type Environment } from '../http/context.ts';
import { readQuery } from '../http/urlencoded.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { addressedWorkspace } from '../workspaces/addressed-workspace.ts';
import { formerHeads, publishedBranches } from '../workspaces/synced-branches.ts';
import type { StoredWorkspace } from '../workspaces/workspaces.ts';
import { createMirrorPlaces, type MirrorLimits } from './limits.ts';
import { protocolOf, readUploadPackRequest } from './read-request.ts';
import { createServe } from './serve.ts';

export interface MirrorParts extends AccessControl {
  readonly git: Git;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly mirrorLimits: MirrorLimits;
}

const address = '/v1/workspaces/:id/git';

/**
 * A read-only git remote for each workspace, which serves its synced branches: gitprotocol-http(5). Separate from the
 * API because git displays errors only as plain text.
 */
export function createMirror({ mirrorLimits: limits, ...parts }: MirrorParts): App {
  const { storage, git, log } = parts;
  const app: App = new Hono<Environment>();
  const places = createMirrorPlaces(limits);
  const serve = createServe({ ...parts, limits, places });

  const serviceIn = ({ env }: Context<Environment>): string | undefined =>
    readQuery(env.incoming.url ?? '', ['service'])['service'];

  const noteLacking = logLacking(log);

  const readFor = async (workspace: string, { env }: Context<Environment>) => ({
    branches: await publishedBranches(storage, workspace),
    protocol: protocolOf(env.incoming),
    onLacking: (names: readonly string[]) => noteLacking(workspace, names),
  });

  app.all(`${address}/*`, requireAccess({ ...parts, signIn: byBearerOrPassword }, 'contents:read'));

  app.get(`${address}/info/refs`, async (c) => {
    const workspace = await addressedWorkspace(c, storage);
    const service = serviceIn(c);
    if (service === 'git-receive-pack') throw pushRefused(workspace);
    // The response to HEAD would be written twice: once by git, and once by Hono.
    if (service !== 'git-upload-pack' || c.req.method === 'HEAD') throw notServed();
    return serve(c, {
      kind: 'info-refs',
      workspace: workspace.id,
      contentType: 'application/x-git-upload-pack-advertisement',
      work: async (task) => git.serve(workspace.id, { ...task, ...(await readFor(workspace.id, c)) }),
    });
  });

  app.post(`${address}/git-upload-pack`, async (c) => {
    const { id } = await addressedWorkspace(c, storage);
    const { id: token, owner } = bearerOf(c);
    return places.holding(owner, async (take) => {
      const request = await readUploadPackRequest(c.env.incoming, {
        maxMs: limits.maxMsPerRequest,
        take,
        onParsed: (ms) => parts.turns.measured(token, ms),
      });
      return serve(c, {
        kind: request.wants.length === 0 ? 'ls-refs' : 'fetch',
        workspace: id,
        contentType: 'application/x-git-upload-pack-result',
        work: async (task) =>
          git.serve(id, { ...task, ...(await readFor(id, c)) }, request, () => formerHeads(storage, id)),
      });
    });
  });

  app.all(`${address}/*`, async (c) => {
    const workspace = await addressedWorkspace(c, storage);
    throw c.req.path.endsWith('/git-receive-pack') ? pushRefused(workspace) : notServed();
  });
  return app;
}

const pushRefused = ({ id, remote }: StoredWorkspace): Refusal =>
  new Refusal(
    'read-only',
    `The mirror of ${id} is read-only. Push to the repository that it mirrors: ${shownRemote(remote)}`,
  );

const notServed = (): Refusal =>
  new Refusal(
    'read-only',
    'This URL supports only git clone, git fetch and git ls-remote, over the smart HTTP protocol of git.',
  );

/** Maximum number of branches in a log entry. */
const maxNamed = 20;

/** Logs the branches that a mirror lacks, and logs again only if they change. */
function logLacking(log: Logger): (workspace: string, names: readonly string[]) => void {
  const logged = new Map<string, string>();
  return (workspace, names) => {
    const key = names.join(' ');
    if (key === (logged.get(workspace) ?? '')) return;
    logged.set(workspace, key);
    if (key === '') return;
    const about = { workspace, branches: names.slice(0, maxNamed), count: names.length };
    log.warn(about, 'branches are not served: the mirror lacks their commits');
  };
}
