import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lock } from '../../src/interface/resources.ts';
import { toLock } from '../../src/service/locks/lock-row.ts';
import type { FigureName } from '../soak/figures.ts';
import { measured } from '../soak/measured.ts';
import { sqlite, temporaryDataFolder } from '../support/databases.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { createRepository } from '../support/git-repository.ts';
import { fasterTime, tellingItsTime } from '../support/preload.ts';
import { type Job, openJob } from '../support/runner/job.ts';
import type { StepResult } from '../support/runner/step.ts';
import { type RunningService, startTestService } from '../support/running-service.ts';
import { expectHarmless } from './harmless.ts';

/** The factor by which time passes faster for a step. */
export const speed = 20;

export const requestTimeout = 20;

const clockFile = 'FIRE_CLOCK_FILE';

export type Given = Readonly<Record<string, string>>;

/** A finished step, with its duration by its own clock. */
export interface Ended extends StepResult {
  readonly tookMs: number;
}

export interface Player {
  readonly job: Job;
  /** The URL of its run, which identifies its locks. */
  readonly origin: string;
  run(given: Given): Promise<Ended>;
  /** Runs the post-step of the last step that still has one. */
  post(): Promise<Ended>;
}

/** A workspace of the service behind its own proxy, and jobs that reach the service only through that proxy. */
export interface Ground {
  readonly service: RunningService;
  readonly workspace: string;
  readonly proxy: FaultProxy;
  /** Sends all further requests of the players to this port. */
  reachAt(port: number): void;
  player(): Promise<Player>;
  locks(): Promise<readonly Lock[]>;
  hasSync(id: string): Promise<boolean>;
  hooks(): Promise<readonly string[]>;
  /** Registers a function that runs when the ground is closed. */
  later(cleanUp: () => Promise<void>): void;
  close(): Promise<void>;
}

export interface Fire {
  ground(): Promise<Ground>;
  stop(): Promise<void>;
}

let runs = 5_000;

/** Starts one service for all tests. Its remote has a branch, and no address is allowed for its webhooks. */
export async function startFire(): Promise<Fire> {
  const { folder, remove } = await temporaryDataFolder();
  const remote = createRepository(folder);
  remote.commit({ branch: 'main', files: { 'a.txt': 'a' } });
  const service = await startTestService(sqlite, { resolve: async () => ['93.184.215.14'] });
  return {
    ground: () => openGround(service, remote.path),
    async stop() {
      await service.stop();
      await remove();
    },
  };
}

async function openGround(service: RunningService, remote: string): Promise<Ground> {
  const cleanUps: (() => Promise<void>)[] = [];
  const workspace = await service.workspace(remote);
  const { secret } = await service.token({ name: 'build-bot', workspaces: [workspace] });
  const proxy = await startFaultProxy(service.port);
  cleanUps.push(() => proxy.close());
  let baseUrl = proxy.baseUrl;

  async function player(): Promise<Player> {
    runs += 1;
    const runId = String(runs);
    const job = await openJob({ run: { runId }, secrets: [secret] });
    cleanUps.push(() => job.end());
    const file = join(job.folders.temp, 'clock');

    async function ended(stage: 'main' | 'post', result: StepResult): Promise<Ended> {
      const { exitCode, rawLog: log, rawSummary: summary } = result;
      expectHarmless({ exitCode, log, summary, output: '', state: '', crashes: [] }, stage, [secret]);
      return { ...result, tookMs: Number(await readFile(file, 'utf8')) };
    }

    return {
      job,
      origin: `https://github.com/octo-games/dragon/actions/runs/${runId}/attempts/1`,
      async run(given) {
        const env = {
          WORKSPACE_BASE_URL: baseUrl,
          WORKSPACE_TOKEN: secret,
          WORKSPACE_ID: workspace,
          NODE_OPTIONS: `${fasterTime(speed)} ${tellingItsTime(clockFile)}`,
          [clockFile]: file,
        };
        return ended(
          'main',
          await job.run({ with: { 'request-timeout': `${requestTimeout}s`, glob: 'false', ...given }, env }),
        );
      },
      async post() {
        const post = await job.nextPost();
        if (post === undefined) throw new Error('No step has a post that has not run.');
        return ended('post', await post.finished);
      },
    };
  }

  return {
    service,
    workspace,
    proxy,
    reachAt(port) {
      baseUrl = `http://127.0.0.1:${port}/v1`;
    },
    player,
    async locks() {
      const rows = await service.storage.read
        .selectFrom('locks')
        .selectAll()
        .where('workspace_id', '=', workspace)
        .where('expires_at', '>', Date.now())
        .orderBy('path')
        .execute();
      return rows.map(toLock);
    },
    async hasSync(id) {
      const { status } = await service.ask('GET', `/v1/workspaces/${workspace}/syncs/${id}`, { token: secret });
      return status === 200;
    },
    async hooks() {
      const rows = await service.storage.read
        .selectFrom('hooks')
        .select('id')
        .where('workspace_id', '=', workspace)
        .execute();
      return rows.map(({ id }) => id);
    },
    later: (cleanUp) => void cleanUps.push(cleanUp),
    async close() {
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    },
  };
}

/** A post-step has 60 s; anything else has two minutes and one attempt. The rest is a margin for a busy machine. */
export function expectInTime(
  name: FigureName,
  { tookMs, log }: Ended,
  most: number = 120_000 + requestTimeout * 1_000,
): void {
  measured(name, tookMs / (most + 20_000), log);
}
