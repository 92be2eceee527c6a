import { addTrustRule, type NewTrustRule, type TrustRule } from '../../src/service/trust/rules.ts';
import { type OidcIssuer, startOidcIssuer } from './oidc-issuer.ts';
import { operator } from './operator.ts';
import type { RunningService } from './running-service.ts';

/** The ids of the test jobs, as in the environment of their steps. */
export const jobIds = { repository_id: '2', repository_owner_id: '3' };

/** An issuer like that of GitHub, which signs identity tokens for the test jobs. */
export async function startJobIssuer(): Promise<OidcIssuer> {
  const issuer = await startOidcIssuer({ path: '/_services/token' });
  const workflow_ref = 'octo-games/dragon/.github/workflows/release.yml@refs/heads/main';
  issuer.jobClaims = { ...jobIds, repository: 'octo-games/dragon', workflow_ref, run_id: '1001' };
  return issuer;
}

/** Adds a trust rule. The service must be allowed to fetch the keys of the issuer from this machine. */
export async function trustJobs(
  { storage }: Pick<RunningService, 'storage'>,
  { url }: Pick<OidcIssuer, 'url'>,
  rule: Partial<NewTrustRule> = {},
): Promise<TrustRule> {
  const added = await storage.commit('global', (db) =>
    addTrustRule(db, operator, {
      ...{ issuer: url, owner: 'build-bot', claims: jobIds },
      ...{ scopes: ['locks:write'], workspaces: null },
      ...rule,
    }),
  );
  if (added.kind !== 'added') throw new Error(`The rule was not added: ${added.kind}.`);
  return added.rule;
}
