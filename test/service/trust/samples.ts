import type { TrustRule } from '../../../src/service/trust/rules.ts';

/** The claims of a job of the workflow release.yml on the branch main. */
export const mainJob = {
  sub: 'repo:octo/game:ref:refs/heads/main',
  repository: 'octo/game',
  repository_id: '123',
  repository_owner: 'octo',
  repository_owner_id: '45',
  ref: 'refs/heads/main',
  ref_type: 'branch',
  event_name: 'push',
  workflow: 'Release',
  workflow_ref: 'octo/game/.github/workflows/release.yml@refs/heads/main',
  job_workflow_ref: 'octo/game/.github/workflows/release.yml@refs/heads/main',
  environment: 'production',
  run_id: '1658821493',
  run_attempt: '1',
} as const;

/** Trusts every job of the repository. */
export const anyJob: TrustRule = {
  id: 'trust_00000000-0000-4000-8000-000000000001',
  issuer: 'https://token.actions.githubusercontent.com',
  owner: 'release-bot',
  claims: { repository_id: '123', repository_owner_id: '45' },
  scopes: ['sync', 'locks:write'],
  workspaces: ['game'],
  created_at: '2026-03-01T14:05:09.000Z',
};
