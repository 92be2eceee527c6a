import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OidcIssuer } from '../../../support/oidc-issuer.ts';
import { someRun } from '../../../support/runner/github-context.ts';
import type { Job } from '../../../support/runner/job.ts';
import type { RunningService } from '../../../support/running-service.ts';
import { changeRows } from '../../../support/stored-rows.ts';
import { jobIds, trustJobs } from '../../../support/trusted-jobs.ts';
import type { Stage } from '../stage.ts';
import type { Account, Counted, PlayedStep } from './book.ts';

/** A job of the model. When the job ends, the player gets another one. */
export interface Player extends Account {
  job: Job;
  origin: string;
  asked: Set<string>;
  /** Its steps; each has a post-step. */
  steps: PlayedStep[];
  counted: Counted[];
  /** Whether a step was stopped, perhaps after it recorded a release, and before its request. */
  isStopped: boolean;
}

export interface Players {
  readonly all: readonly Player[];
  of(number: number): Player;
  /** Replaces the job of the player. */
  restart(player: Player): Promise<void>;
}

/** Opens players. Without `identified`, their jobs use the token of the stage. */
export async function openPlayers(
  stage: Stage,
  count: number,
  paths: readonly string[],
  identified: Awaited<ReturnType<typeof identifyJobs>> | undefined,
): Promise<Players> {
  const { serverUrl = someRun.serverUrl } = identified ?? {};
  let runs = 0;

  async function newPlayer(): Promise<Player> {
    runs += 1;
    const runId = `${runs}`;
    const job = await stage.job({ run: { runId, serverUrl }, env: identified?.environmentOf(runId) ?? {} });
    // Patterns match files of the checkout.
    for (const path of paths) await writeFile(join(job.folders.workspace, path), '');
    const origin = `${serverUrl}/octo-games/dragon/actions/runs/${runId}/attempts/1`;
    return { job, origin, steps: [], asked: new Set(), counted: [], broken: [], ledgerGone: false, isStopped: false };
  }

  const all: Player[] = [];
  for (let number = 0; number < count; number += 1) all.push(await newPlayer());
  return {
    all,
    of(number) {
      const player = all[number];
      if (player === undefined) throw new Error('There is no such player.');
      return player;
    },
    async restart(player) {
      Object.assign(player, await newPlayer());
    },
  };
}

/** Jobs without a stored token, of a repository that only the caller uses. */
export async function identifyJobs(service: Pick<RunningService, 'storage'>, issuer: OidcIssuer) {
  const repositoryId = String(randomInt(1, 2 ** 40));
  const { id } = await trustJobs(service, issuer, { claims: { ...jobIds, repository_id: repositoryId } });
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address } = issuer.runnerEnvironment;
  return {
    /** The server of their runs, as the service learns it from the issuer. */
    serverUrl: new URL(issuer.url).origin,
    environmentOf: (runId: string) => ({
      ...issuer.runnerEnvironment,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${address}&repository_id=${repositoryId}&run_id=${runId}`,
      WORKSPACE_TOKEN: '',
    }),
    /** Revokes the tokens of all jobs: the next request with one is rejected. */
    endTokens: () => changeRows(service.storage, 'tokens', { expires_at: 1 }, { trust_rule: id }),
  };
}
