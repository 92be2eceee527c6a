import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from '@hono/zod-openapi';
import { type BranchName, parseBranchName } from '../../interface/branch-name.ts';
import { invalid, parseJson, valid } from '../contract/response.ts';
import { sameHash, secretHash } from '../tokens/secret.ts';
import { secretKey, type WebhookSecret } from '../webhooks/signature.ts';

/** Forgejo counts as `gitea`, because it sends the headers of Gitea next to its own. */
export const forges = ['github', 'gitlab', 'gitea'] as const;

export type Forge = (typeof forges)[number];

interface ForgeRequest {
  readonly headers: IncomingHttpHeaders;
  readonly head: Buffer;
}

/** All forges send the branch and its commit before the lists of commits. */
export const headBytes = 64 * 1_024;

/**
 * Returns the pushed branch of a request whose signature was verified. Undefined for a test of the webhook, a tag, or a
 * deleted branch. Throws if it is not a push event.
 */
export function pushedBranch(forge: Forge, { headers, head }: ForgeRequest): BranchName | undefined {
  const { eventHeader, push, ignored } = rules[forge];
  const event = headers[eventHeader];
  if (event !== undefined && event === ignored) return undefined;
  const json = event === push ? head.toString() : '';
  const { data: payload } = payloadSchema.safeParse({ ref: firstText(json, 'ref'), after: firstText(json, 'after') });
  if (payload === undefined) {
    const detail = `It must be a push event: "${push}" in the header ${eventHeader}, and "ref" and "after" in the body. Choose only push events in the settings of the webhook.`;
    throw invalid({ pointer: '#', detail });
  }
  const [, name] = /^refs\/heads\/(.*)$/s.exec(payload.ref) ?? [];
  // For a deleted branch, all forges send zeros as the new commit.
  if (name === undefined || /^0+$/.test(payload.after)) return undefined;
  return valid('ref', parseBranchName(name));
}

/** The part that is the same for all forges. */
const payloadSchema = z.object({ ref: z.string(), after: z.string().regex(/^[0-9a-f]{40,64}$/) });

/** Without a signature, the body is not read. */
export const hasSignature = (forge: Forge, headers: IncomingHttpHeaders): boolean =>
  Object.keys(rules[forge].signatures).some((name) => headers[name] !== undefined);

/** The text of the first member with this name. No text can look like one: its quotation marks are escaped. */
function firstText(json: string, name: string): string | undefined {
  const member = new RegExp(`"${name}"\\s*:\\s*("[^"\\\\]*(?:\\\\.[^"\\\\]*)*")`);
  return parseJson(z.string(), member.exec(json)?.[1] ?? '');
}

/** Whether the forge signed the request with this secret. Takes the body in pieces, then compares. */
export function checkSignature(forge: Forge, headers: IncomingHttpHeaders, secret: WebhookSecret) {
  const checks = Object.entries(rules[forge].signatures).flatMap(([name, sign]) => {
    const sent = headers[name];
    return sent === undefined ? [] : [{ sent: String(sent), expected: sign(secret, headers) }];
  });
  return {
    update(piece: Buffer): void {
      for (const { expected } of checks) expected.update(piece);
    },
    // The hashes have the same length, so the duration of the comparison reveals nothing.
    isSigned: (): boolean =>
      checks.some(({ sent, expected }) => sameHash(secretHash(sent), secretHash(expected.digest()))),
  };
}

interface Signature {
  update(piece: Buffer): void;
  digest(): string;
}

type Sign = (secret: WebhookSecret, headers: IncomingHttpHeaders) => Signature;

interface ForgeRules {
  /** By header. One valid signature is enough. */
  readonly signatures: Readonly<Record<string, Sign>>;
  readonly eventHeader: string;
  readonly push: string;
  readonly ignored?: string;
}

const hexHmac =
  (prefix = ''): Sign =>
  (secret) => {
    const hmac = createHmac('sha256', secret);
    return { update: (piece) => void hmac.update(piece), digest: () => prefix + hmac.digest('hex') };
  };

/** The signing token of GitLab, as in Standard Webhooks 1.0. */
const standardSignature: Sign = (secret, headers) => {
  const hmac = createHmac('sha256', secretKey(secret));
  hmac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`);
  return { update: (piece) => void hmac.update(piece), digest: () => `v1,${hmac.digest('base64')}` };
};

const secretItself: Sign = (secret) => ({ update: () => undefined, digest: () => secret });

const rules: Readonly<Record<Forge, ForgeRules>> = {
  github: {
    signatures: { 'x-hub-signature-256': hexHmac('sha256=') },
    eventHeader: 'x-github-event',
    push: 'push',
    ignored: 'ping',
  },
  gitlab: {
    signatures: { 'x-gitlab-token': secretItself, 'webhook-signature': standardSignature },
    eventHeader: 'x-gitlab-event',
    push: 'Push Hook',
    ignored: 'Tag Push Hook',
  },
  gitea: {
    signatures: { 'x-gitea-signature': hexHmac(), 'x-forgejo-signature': hexHmac() },
    eventHeader: 'x-gitea-event',
    push: 'push',
  },
};
