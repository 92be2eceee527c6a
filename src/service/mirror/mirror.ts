import { Hono } from 'hono';
import { type AccessControl, byBearerOrPassword, requireAccess } from '../access/access.ts';
import { bearerOf, requestedWorkspace } from '../access/caller.ts';
import { Refusal } from '../contract/problem.ts';
import { redactRemote } from '../git/remote.ts';
import type { App, Environment } from '../http/context.ts';
import { readQuery } from '../http/request-target.ts';
import type { StoredWorkspace } from '../workspaces/workspaces.ts';
import { createMirrorSlots, type MirrorLimits } from './limits.ts';
import { readUploadPackRequest } from './read-request.ts';
import { createServe, type ServeParts } from './serve.ts';

export type MirrorParts = AccessControl &
  Omit<ServeParts, 'limits' | 'slots'> & { readonly mirrorLimits: MirrorLimits };

const address = '/v1/workspaces/:id/git';

/** A read-only git remote for each workspace: gitprotocol-http(5). Not in the API: git displays only plain text. */
export function createMirror({ mirrorLimits: limits, ...parts }: MirrorParts): App {
  const { storage } = parts;
  const app: App = new Hono<Environment>();
  const slots = createMirrorSlots(limits);
  const serve = createServe({ ...parts, limits, slots });

  app.all(`${address}/*`, requireAccess({ ...parts, authScheme: byBearerOrPassword }, 'contents:read'));

  app.get(`${address}/info/refs`, async (c) => {
    const workspace = await requestedWorkspace(c, storage);
    const { service } = readQuery(c.env.incoming.url ?? '', ['service']);
    if (service === 'git-receive-pack') throw pushRefused(workspace);
    // The response to HEAD would be written twice: once by git, and once by Hono.
    if (service !== 'git-upload-pack' || c.req.method === 'HEAD') throw notServed();
    return serve(c, workspace);
  });

  app.post(`${address}/git-upload-pack`, async (c) => {
    const workspace = await requestedWorkspace(c, storage);
    const { owner } = bearerOf(c);
    return slots.holding(owner, async (take) => {
      const request = await readUploadPackRequest(c.env.incoming, {
        maxMs: limits.maxMsPerRequest,
        take,
      });
      return serve(c, workspace, request);
    });
  });

  app.all(`${address}/*`, async (c) => {
    const workspace = await requestedWorkspace(c, storage);
    throw c.req.path.endsWith('/git-receive-pack') ? pushRefused(workspace) : notServed();
  });
  return app;
}

const pushRefused = ({ id, remote }: StoredWorkspace): Refusal =>
  new Refusal(
    'read-only',
    `The mirror of ${id} is read-only. Push to the repository that it mirrors: ${redactRemote(remote)}`,
  );

const notServed = (): Refusal =>
  new Refusal(
    'read-only',
    'This URL supports only git clone, git fetch and git ls-remote, over the smart HTTP protocol of git.',
  );
