import { createHmac, randomUUID } from 'node:crypto';
import { type Forge, forges } from '../../../src/service/syncs/push-event.ts';

export interface PushDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string;
}

export interface Pushed {
  readonly ref?: string;
  readonly after?: string;
  readonly event?: string;
  /** Further members of the payload. */
  readonly more?: object;
}

const zeros = '0'.repeat(40);

/** The ways of the forges to send a push. GitLab has two signatures, and Forgejo has headers of its own. */
export const senders = [...forges, 'gitlab-signing-token', 'forgejo'] as const;

export type Sender = (typeof senders)[number];

/** The name of the forge in the URL. */
export const forgeOf = (sender: Sender): Forge =>
  sender === 'forgejo' ? 'gitea' : sender === 'gitlab-signing-token' ? 'gitlab' : sender;

export const deleted = { after: zeros } as const;

/** A push as the forge sends it: with its headers, its order of members, and signed by node:crypto. */
export function pushDelivery(sender: Sender, secret: string, pushed: Pushed = {}): PushDelivery {
  const { ref = 'refs/heads/main', after = 'a'.repeat(40), more = {} } = pushed;
  const forge = forgeOf(sender);
  const raw = JSON.stringify(payloadOf(forge, ref, after, more));
  return { headers: { 'content-type': 'application/json', ...headersOf(sender, secret, raw, pushed.event) }, raw };
}

function payloadOf(forge: Forge, ref: string, after: string, more: object): object {
  const before = 'b'.repeat(40);
  const commits = [
    { id: after, message: 'Heroïne, ヒーロー', added: ['Content/Hero.uasset'], modified: [], removed: [] },
  ];
  const pusher = { name: 'ada', email: 'ada@example.com' };
  switch (forge) {
    case 'github': {
      const repository = { id: 1, full_name: 'studio/game', default_branch: 'main' };
      const flags = { created: false, deleted: after === zeros, forced: false };
      return { ref, before, after, repository, pusher, sender: { login: 'ada' }, ...flags, commits, ...more };
    }
    case 'gitlab': {
      const project = { id: 1, path_with_namespace: 'studio/game', default_branch: 'main' };
      const checkout = after === zeros ? null : after;
      const kind = ref.startsWith('refs/tags/') ? 'tag_push' : 'push';
      const head = { object_kind: kind, event_name: kind, before, after, ref, checkout_sha: checkout };
      return { ...head, user_username: 'ada', project, commits, total_commits_count: 1, ...more };
    }
    case 'gitea': {
      const repository = { id: 1, full_name: 'studio/game', default_branch: 'main' };
      return { ref, before, after, compare_url: '', commits, total_commits: 1, repository, pusher, ...more };
    }
  }
}

function headersOf(sender: Sender, secret: string, raw: string, event?: string): PushDelivery['headers'] {
  const sha256 = createHmac('sha256', secret).update(raw).digest('hex');
  const sha1 = createHmac('sha1', secret).update(raw).digest('hex');
  const id = randomUUID();
  const gitlab = { 'X-Gitlab-Event': event ?? 'Push Hook' };
  const [seconds, key] = ['1774000000', Buffer.from(secret.replace('whsec_', ''), 'base64')];
  const signed = createHmac('sha256', key).update(`${id}.${seconds}.${raw}`).digest('base64');
  const gitea = {
    'X-GitHub-Event': event ?? 'push',
    'X-Gitea-Event': event ?? 'push',
    'X-Gitea-Signature': sha256,
    'X-Hub-Signature': `sha1=${sha1}`,
    'X-Hub-Signature-256': `sha256=${sha256}`,
  };
  switch (sender) {
    case 'github':
      return {
        'X-GitHub-Event': event ?? 'push',
        'X-Hub-Signature': `sha1=${sha1}`,
        'X-Hub-Signature-256': `sha256=${sha256}`,
      };
    case 'gitlab':
      return { ...gitlab, 'X-Gitlab-Token': secret };
    case 'gitlab-signing-token':
      return { ...gitlab, 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signed}` };
    case 'gitea':
      return gitea;
    case 'forgejo':
      return { ...gitea, 'X-Forgejo-Event': event ?? 'push', 'X-Forgejo-Signature': sha256 };
  }
}
