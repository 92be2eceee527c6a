import { beforeAll, describe, expect, test } from 'vitest';
import { newWebhookSecret } from '../../../src/service/webhooks/signature.ts';
import { pushSecret } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository, type Repository } from '../../support/git-repository.ts';
import { requestRaw } from '../../support/raw-http.ts';
import type { Ask, Reply } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { expectProblem } from '../http/expect-problem.ts';
import { endOfSync, gitClient, mirrorUrl } from '../mirror/mirror-of.ts';
import {
  deleted,
  forgeOf,
  type PushDelivery,
  type Pushed,
  pushDelivery,
  type Sender,
  senders,
} from './push-delivery.ts';

describe.each(databaseKinds)('pushes on $name', (kind) => {
  const service = serviceOfTests({ publicUrl: () => 'https://assets.example.com' }, kind);
  let token: string;

  beforeAll(async () => {
    token = (await service.token()).secret;
  });

  const operator = { name: 'operator', tokenId: null, address: null };

  const secretOf = (id: string, rotate = false) =>
    service.storage.commit({ workspace: id }, (db) => pushSecret(db, operator, id, rotate));

  async function pushedWorkspace() {
    const remote = createRepository(temporaryFolder());
    remote.commit({ branch: 'main', files: { a: '1' } });
    const workspace = await service.workspace(remote.path);
    return { remote, workspace, secret: await secretOf(workspace) };
  }

  const send = (workspace: string, forge: string, { headers, raw }: PushDelivery, more: Ask = {}): Promise<Reply> =>
    service.ask('POST', `/v1/workspaces/${workspace}/push/${forge}`, { headers, raw, ...more });

  const sendFrom = (sender: Sender, to: { readonly workspace: string; readonly secret: string }, pushed: Pushed = {}) =>
    send(to.workspace, forgeOf(sender), pushDelivery(sender, to.secret, pushed));

  const syncs = (workspace: string) =>
    service.storage.read.selectFrom('syncs').selectAll().where('workspace_id', '=', workspace).execute();

  const ended = (triggered: Reply) => endOfSync(service, token, triggered);

  /** The branches that the mirror serves to git. */
  async function served(workspace: string): Promise<string> {
    return (await gitClient()).git('ls-remote', '--heads', mirrorUrl(service, workspace, token));
  }

  /** Adds a commit to a branch of the remote, and returns it. */
  function push(remote: Repository, branch: string): string {
    remote.commit({ branch, files: { b: branch } });
    return remote.head(branch);
  }

  test.each(senders)('after a push, the event of %s brings the new head into the mirror', async (sender) => {
    const { remote, workspace, secret } = await pushedWorkspace();
    const head = push(remote, 'main');
    const queued = await sendFrom(sender, { workspace, secret }, { after: head });
    expect(queued.status, queued.text).toBe(202);
    expect(queued.body).toMatchObject({
      status: 'queued',
      branch: 'main',
      estimated_objects: 0,
      clone_url: `https://assets.example.com/v1/workspaces/${workspace}/git`,
    });
    expect(await ended(queued)).toMatchObject({ status: 'succeeded', head });
    expect(await served(workspace)).toBe(`${head}\trefs/heads/main\n`);
    expect(await syncs(workspace)).toMatchObject([{ requested_by: `push (${forgeOf(sender)})` }]);
  });

  test('a new branch is synced too, and the estimate is the last known number', async () => {
    const { remote, workspace, secret } = await pushedWorkspace();
    const head = push(remote, 'release/1.4');
    const ref = 'refs/heads/release/1.4';
    const first = await ended(await sendFrom('github', { workspace, secret }, { ref }));
    expect(first).toMatchObject({ status: 'succeeded', branch: 'release/1.4', head });
    expect(first.received_objects).toBeGreaterThan(0);
    const again = await sendFrom('github', { workspace, secret }, { ref });
    expect(again.body.estimated_objects).toBe(first.received_objects);
  });

  test('a larger event than GitHub sends gets 413', async () => {
    const { workspace, secret } = await pushedWorkspace();
    const { headers } = pushDelivery('github', secret);
    const length = { 'Content-Length': 25 * 1_024 * 1_024 + 1 };
    expectProblem(await requestRaw(service.port, unsent(workspace, { ...headers, ...length })), 'body-too-large');
    expect(await syncs(workspace)).toEqual([]);
  });

  test('a test of the webhook, a tag and a deleted branch get 204, and no sync', async () => {
    const { workspace, secret } = await pushedWorkspace();
    for (const pushed of [{ event: 'ping' }, { ref: 'refs/tags/v1' }, deleted]) {
      const { status, text } = await sendFrom('github', { workspace, secret }, pushed);
      expect([status, text]).toEqual([204, '']);
    }
    expect(await syncs(workspace)).toEqual([]);
  });

  /** A request to the address for GitHub, without its body. */
  const unsent = (workspace: string, headers: Readonly<Record<string, string | number>>) => ({
    method: 'POST',
    target: `/v1/workspaces/${workspace}/push/github`,
    headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  });

  /** Compares two refusals without their request ids. */
  const withoutId = ({ status, body: { request_id: _, ...rest } }: Reply) => ({ status, rest });

  describe('without a valid signature', () => {
    test.each(senders)('%s gets the same 404 everywhere, and no sync', async (sender) => {
      const { workspace, secret } = await pushedWorkspace();
      const signed = pushDelivery(sender, secret);
      const wrong = pushDelivery(sender, newWebhookSecret());
      const unsigned = { ...signed, headers: { 'content-type': 'application/json', 'x-github-event': 'push' } };
      const forge = forgeOf(sender);
      const replies = [
        await send(workspace, forge, wrong),
        await send(workspace, forge, unsigned),
        await send(await service.workspace(), forge, signed),
        await send('not-there', forge, signed),
        await send('NOT%00valid', forge, signed),
        await send(workspace, 'bitbucket', signed),
        await send(workspace, 'constructor', signed),
        await send((await pushedWorkspace()).workspace, forge, signed),
      ];
      for (const reply of replies) expectProblem(reply, 'not-found');
      expect(new Set(replies.map((reply) => JSON.stringify(withoutId(reply)))).size).toBe(1);
      expect(await syncs(workspace)).toEqual([]);
    });

    test('a request without one is refused before its body', async () => {
      const { workspace } = await pushedWorkspace();
      const headers = { 'Content-Type': 'application/json', 'Content-Length': 20_000_000 };
      expectProblem(await requestRaw(service.port, unsent(workspace, headers)), 'not-found');
    });
  });

  test('commands that create the first secret at the same time get the same one', async () => {
    const workspace = await service.workspace();
    const [one, ...others] = await Promise.all(Array.from({ length: 5 }, () => secretOf(workspace)));
    expect(new Set(others)).toEqual(new Set([one]));
  });

  test('a signed event that cannot be parsed gets 422, and the response says what was expected', async () => {
    const { workspace, secret } = await pushedWorkspace();
    const reply = await sendFrom('github', { workspace, secret }, { event: 'issues' });
    expect(expectProblem(reply, 'invalid-request').detail).toContain('"push" in the header x-github-event');
    expect(await syncs(workspace)).toEqual([]);
  });

  test('a form gets 415, and the response says what to choose', async () => {
    const { workspace, secret } = await pushedWorkspace();
    const { headers, raw } = pushDelivery('github', secret);
    const form = {
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      raw: `payload=${raw}`,
    };
    expect(expectProblem(await send(workspace, 'github', form), 'unsupported-media-type').detail).toContain(
      'Choose application/json',
    );
  });

  test('the log and the audit do not contain the secret', async () => {
    const { workspace, secret } = await pushedWorkspace();
    for (const sender of senders) await sendFrom(sender, { workspace, secret });
    await sendFrom('gitlab', { workspace: 'not-there', secret });
    const audit = await service.storage.read.selectFrom('audit').selectAll().execute();
    expect(audit.map(({ action }) => action)).toContain('push-secret.created');
    expect(service.log() + JSON.stringify(audit)).not.toContain(secret);
    expect(service.log()).toContain(`/v1/workspaces/${workspace}/push/gitlab`);
    expect((await service.ask('GET', '/v1/workspaces', { token })).text).not.toContain(secret);
  });
});
