import type { IncomingMessage } from 'node:http';
import { z } from '@hono/zod-openapi';
import { emptyResponse, Refusal } from '../contract/response.ts';
import { syncSchema } from '../contract/schemas.ts';
import { forEachPiece, isJson } from '../http/body.ts';
import { checkSignature, forges, hasSignature, headBytes, pushedBranch } from '../syncs/push-event.ts';
import { enqueue } from '../syncs/queue.ts';
import { newWebhookSecret } from '../webhooks/signature.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { findPushSecret } from '../workspaces/workspaces.ts';
import { type Api, type ApiParts, addOperation, jsonResponse, workspaceParameter } from './operation.ts';
import { queuedResponse } from './syncs.ts';

const eventSchema = z.looseObject({}).openapi('PushEvent', { description: 'The event as the forge sends it.' });

export function addPushRoute(api: Api, parts: ApiParts): void {
  const { storage, publicUrl } = parts;

  addOperation(api, parts, {
    operationId: 'receivePush',
    summary: 'Sync the branch of a push event, or join its queued sync',
    description:
      'The forge signs the event with the secret that "workspace-service workspace push-hook" prints. Without a valid signature, the response is 404, whether or not the workspace exists.',
    method: 'post',
    path: '/v1/workspaces/{id}/push/{forge}',
    access: 'anyone',
    params: workspaceParameter.extend({
      forge: z.enum(forges).openapi({ param: { name: 'forge', in: 'path' }, description: 'gitea includes Forgejo.' }),
    }),
    ownBody: { 'application/json': { schema: eventSchema } },
    responses: {
      202: jsonResponse('Queued. Location has its status.', syncSchema),
      204: { description: 'Nothing to sync: a test of the webhook, a tag, or a deleted branch.' },
    },
    async handle({ c }) {
      const { workspace, forge, branch } = await receive(c.env.incoming, c.req.param(), storage);
      if (branch === undefined) return emptyResponse(204);
      // Also while the disk is low: it is a single row, and GitHub sends no event again.
      const estimatedObjects = (await syncedBranches(storage, workspace)).get(branch)?.receivedObjects ?? 0;
      const wanted = { workspace, branch, estimatedObjects, requestedBy: `push (${forge})` };
      const sync = await storage.commit({ workspace }, (db) => enqueue(db, wanted));
      return queuedResponse(workspace, sync, publicUrl());
    },
  });
}

/** GitHub sends at most 25 MB. */
const maxEventBytes = 25 * 1_024 * 1_024;

/** Checked for workspaces without a secret, so that such requests take as long as any other. It signs nothing. */
const noSecret = newWebhookSecret();

/** Verifies and parses an event. The response to all requests without a valid signature is the same. */
async function receive(
  incoming: IncomingMessage,
  { id: workspace = '', forge: asked }: Readonly<Record<string, string>>,
  { read }: ApiParts['storage'],
) {
  const { headers } = incoming;
  const forge = forges.find((name) => name === asked);
  if (forge === undefined || !hasSignature(forge, headers)) throw notSigned();
  if (!isJson(headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'A push event must be JSON. Choose application/json in the webhook.');
  }
  const secret = parseWorkspaceId(workspace).ok ? await findPushSecret(read, workspace) : undefined;
  const signature = checkSignature(forge, headers, secret ?? noSecret);
  // Keeps only the start: strangers send bodies, too, and the events of a forge are large.
  let head = Buffer.alloc(0);
  await forEachPiece(incoming, maxEventBytes, (piece) => {
    signature.update(piece);
    if (head.length < headBytes) head = Buffer.concat([head, piece.subarray(0, headBytes - head.length)]);
  });
  if (!signature.isSigned() || secret === undefined) throw notSigned();
  return { workspace, forge, branch: pushedBranch(forge, { headers, head }) };
}

const notSigned = (): Refusal =>
  new Refusal(
    'not-found',
    'The push event is not signed with the secret of this URL. Copy both from "workspace-service workspace push-hook".',
  );
