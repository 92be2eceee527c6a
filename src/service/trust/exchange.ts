import { sql } from 'kysely';
import { recordAudit } from '../audit/audit.ts';
import { isScope, type Scope } from '../contract/scopes.ts';
import type { Instance } from '../instance/instance.ts';
import { subscriberOf } from '../platform/ip-address.ts';
import { limitRate, perMinute } from '../runtime/limit-rate.ts';
import type { Database } from '../storage/storage.ts';
import { now, timeOf } from '../storage/timestamp.ts';
import { newTokenId, newTokenSecret, secretHash } from '../tokens/secret.ts';
import { matchTrustRules, type TrustDecision } from './match.ts';
import { provenRun } from './proven-run.ts';
import { listTrustRules, type TrustRule } from './rules.ts';
import { createIssuerKeys, createVerifyIdentity, type Identity } from './verify-identity.ts';

interface ExchangeRequest {
  readonly jwt: string;
  /** Requested scopes, not validated yet. If empty, the token gets all scopes of the rule. */
  readonly scopes: readonly string[];
  readonly address: string | null;
  readonly requestId: string;
}

type ExchangeResult =
  | { readonly kind: 'exchanged'; readonly secret: string; readonly scopes: readonly Scope[] }
  /** The JWT is invalid, or no rule matches it. The client must not learn which of the two. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'invalid-scope'; readonly reason: string }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterSeconds: number };

export type ExchangeToken = ReturnType<typeof createExchangeToken>;

interface ExchangeParts extends Pick<Instance, 'storage' | 'targets' | 'log'> {
  /** The audience that identity tokens must have; undefined if the public URL is unknown. */
  readonly publicUrl: () => string | undefined;
  readonly clock?: () => number;
}

/** Limit per IP address, which many jobs may share. Anyone can send requests, and verification takes time. */
const attemptsOfAddress = perMinute(1_200);

export function createExchangeToken({ storage, targets, log, publicUrl, clock }: ExchangeParts) {
  const onFailure = (issuer: string, reason: string): void => log.warn({ issuer, reason }, 'issuer key fetch failed');
  const verify = createVerifyIdentity(createIssuerKeys({ targets, onFailure }));
  const { charge } = limitRate(attemptsOfAddress, clock);

  async function exchange(request: ExchangeRequest): Promise<ExchangeResult> {
    const audience = publicUrl();
    if (audience === undefined) {
      return { kind: 'refused', reason: 'The service has no public URL. Start it with --public-url.' };
    }
    const [rules, now] = await Promise.all([listTrustRules(storage), timeOf(storage.read)]);
    const issuers = new Set(rules.map(({ issuer }) => issuer));
    const verification = await verify(request.jwt, { issuers, audience, now });
    return verification.kind === 'verified' ? exchangeVerified(rules, verification.identity, request) : verification;
  }

  async function exchangeVerified(
    rules: readonly TrustRule[],
    identity: Identity,
    { scopes, address }: ExchangeRequest,
  ): Promise<ExchangeResult> {
    const requested = [...new Set(scopes.filter(isScope))];
    const decision = matchTrustRules(rules, identity.issuer, identity.claims, requested);
    if (decision.kind !== 'trusted') return decision;
    if (!scopes.every(isScope)) return { kind: 'invalid-scope', reason: 'The job requested an unknown scope.' };
    return storage.commit('tokens', (db) => issue(db, decision, identity, address));
  }

  return async (request: ExchangeRequest): Promise<ExchangeResult> => {
    const seconds = charge(subscriberOf(request.address ?? ''));
    const exchanged: ExchangeResult =
      seconds > 0 ? { kind: 'limited', retryAfterSeconds: seconds } : await exchange(request);
    if ('reason' in exchanged) {
      const about = { request_id: request.requestId, origin_address: request.address ?? undefined };
      log.info({ ...about, reason: exchanged.reason }, 'token exchange refused');
    }
    return exchanged;
  };
}

/** Long enough for a step. Longer jobs exchange another identity token. */
export const exchangedTokenSeconds = 15 * 60;

/**
 * Creates the token. The same transaction checks that the rule still exists, because its removal revokes its tokens,
 * and that the JWT was not exchanged before.
 */
async function issue(
  db: Database,
  { rule, scopes }: Extract<TrustDecision, { kind: 'trusted' }>,
  { issuer, claims, id: identity, endsAt }: Identity,
  address: string | null,
): Promise<ExchangeResult> {
  const { owner, workspaces } = rule;
  const run = provenRun(issuer, claims, owner);
  const found = await db.selectFrom('trust_rules').select('id').where('id', '=', rule.id).executeTakeFirst();
  if (found === undefined) {
    return { kind: 'refused', reason: 'The trust rule that allows the job was just removed.' };
  }
  const secret = newTokenSecret();
  const expires_at = sql<number>`${now} + ${sql.lit(exchangedTokenSeconds * 1_000)}`;
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('tokens')
    .values({
      id: newTokenId(),
      name: run.name,
      owner,
      hash: secretHash(secret),
      created_at: now,
      expires_at,
      scopes: JSON.stringify(scopes),
      workspaces: workspaces && JSON.stringify(workspaces),
      run_id: run.id,
      run_origin: run.origin,
      trust_rule: rule.id,
      identity,
      forget_at: sql<number>`case when ${expires_at} > ${endsAt} then ${expires_at} else ${endsAt} end`,
    })
    .onConflict((conflict) => conflict.column('identity').doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) {
    return { kind: 'refused', reason: `The JWT of ${run.name} was exchanged before.` };
  }
  const audited = db
    .selectFrom('audit')
    .select('sequence')
    .where('token_id', '=', run.id)
    .where('action', '=', sql.lit('token.exchanged'))
    .limit(1);
  if ((await audited.executeTakeFirst()) === undefined) {
    await recordAudit(db, {
      actor: { name: run.name, tokenId: run.id, address },
      action: 'token.exchanged',
      detail: { issuer, ...run.claims, owner, scopes, workspaces, rule: rule.id },
    });
  }
  return { kind: 'exchanged', secret, scopes };
}
