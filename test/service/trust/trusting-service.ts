import { randomInt, randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { createTargetCheck } from '../../../src/service/outbound/target.ts';
import { cidr } from '../../../src/service/platform/ip-address.ts';
import { createExchangeToken } from '../../../src/service/trust/exchange.ts';
import { addTrustRule, type NewTrustRule, type TrustRule } from '../../../src/service/trust/rules.ts';
import type { DatabaseKind } from '../../support/databases.ts';
import { type Claims, type Header, type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';
import type { Ask, Reply, RunningServiceOptions } from '../../support/running-service.ts';
import { type SharedService, sharedService } from '../http/shared-service.ts';

export const audience = 'https://assets.example.com';

/** Settings that allow issuers on this machine and trust the forwarded client address. */
export const trusting = {
  publicUrl: () => audience,
  allowedNetworks: ['127.0.0.0/8'],
  trustedProxies: ['127.0.0.0/8'],
} satisfies RunningServiceOptions;

const operator = { name: 'operator:test', tokenId: null, address: null };

/** An address that no other test uses, because refusals are limited per address. */
export const newAddress = (): string => `198.18.${randomInt(256)}.${randomInt(256)}`;

/** The exchange of another instance of the service, with this clock. */
export const exchangeOn = ({ storage }: TrustingService, clock: () => number) =>
  createExchangeToken({
    storage,
    targets: createTargetCheck([cidr('127.0.0.0/8')]),
    log: pino({ level: 'silent' }),
    publicUrl: () => audience,
    clock,
  });

export interface Shown {
  readonly form?: Readonly<Record<string, string>>;
  /** Request body to send instead of the form. */
  readonly raw?: string;
  readonly address?: string;
  readonly headers?: Ask['headers'];
}

export interface TrustingService extends SharedService {
  /** An issuer with the claims of GitHub. */
  readonly issuer: OidcIssuer;
  /** Adds a rule for the jobs of a new repository. Returns it with a function that signs their identity tokens. */
  trust(rule?: Partial<NewTrustRule>): Promise<TrustRule & { sign(claims?: Claims, header?: Header): string }>;
  /** Exchanges an identity token for an API token. */
  exchange(jwt: string, shown?: Shown): Promise<Reply>;
  /** Log messages about the request that got this response. */
  told(response: Reply): string;
}

/** One service and one issuer for the tests of a file. */
export function trustingService(kind?: DatabaseKind, options: RunningServiceOptions = {}): TrustingService {
  const service = sharedService(kind, { ...trusting, ...options });
  // Filled in before the first test runs.
  const shared = {} as TrustingService;
  beforeAll(async () => {
    const issuer = await startOidcIssuer({ path: '/_services/token' });
    Object.assign(shared, service, {
      issuer,
      async trust({ claims = {}, ...more }: Partial<NewTrustRule> = {}) {
        const repository_id = String(randomInt(2 ** 40));
        const rule = {
          issuer: issuer.url,
          owner: `release-bot-${randomUUID()}`,
          claims: { repository_id, repository_owner_id: '45', ...claims },
          scopes: ['locks:write'],
          workspaces: null,
          ...more,
        } satisfies NewTrustRule;
        const { storage } = service;
        const added = await storage.commit('global', (db) => addTrustRule(db, operator, rule));
        if (added.kind !== 'added') throw new Error(`The rule was not added: ${added.kind}.`);
        const sign = (claims: Claims = {}, header?: Header) =>
          issuer.sign(
            audience,
            { repository_id, sub: `repo:octo/${repository_id}:ref:refs/heads/main`, ...claims },
            header,
          );
        return { ...added.rule, sign };
      },
      told({ headers }: Reply) {
        const lines = service
          .log()
          .split('\n')
          .filter((line) => line.includes(headers.get('x-request-id') ?? 'none'));
        return lines
          .map((line) => JSON.parse(line))
          .filter(({ msg }) => msg !== 'request')
          .map(({ msg, reason }) => `${msg}: ${reason}`)
          .join('\n');
      },
      async exchange(jwt: string, { form = {}, raw, address = newAddress(), headers }: Shown = {}) {
        const fields = {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: jwt,
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          ...form,
        };
        const type = { 'content-type': 'application/x-www-form-urlencoded' };
        const text = raw ?? new URLSearchParams(fields).toString();
        const asked = { raw: text, headers: { ...type, 'x-forwarded-for': address, ...headers } };
        return service.ask('POST', '/v1/token', asked);
      },
    });
  });
  afterAll(() => shared.issuer.close());
  return shared;
}
