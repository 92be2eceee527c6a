import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recipes, section, workflow } from '../docs/pages.ts';
import { type GitHubApi, notFound, startGitHubApi } from '../support/other-servers/github-api.ts';
import type { GitHubFile } from '../support/other-servers/github-history.ts';
import type { Answer, SeenRequest } from '../support/other-servers/other-server.ts';
import { json } from '../support/other-servers/responses.ts';
import type { JobEvent } from '../support/runner/github-context.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runWorkflowJob } from './job-runner.ts';
import { parseWorkflow } from './workflow-file.ts';

const recipe = section(recipes, 'Turn the check green after a release');
const caller = parseWorkflow(workflow(recipe.title));

/** A file name with shell syntax. */
const hero = `Content/$(touch run)';touch run;'"::error::.uasset`;

interface Run {
  readonly id: number;
  /** The pull request that it ran for. */
  readonly of: number;
  /** Null while it is in progress. */
  conclusion: 'failure' | 'success' | null;
  readonly event?: 'pull_request' | 'pull_request_target';
  /** Conclusion of a run in progress after the first look at it. */
  readonly ends?: 'failure' | 'success';
}

interface GitHub extends GitHubApi {
  /** Runs whose failed jobs were rerun. */
  readonly rerun: readonly number[];
}

const headOf = (pull: number): string => String(pull).padStart(40, '0');
const branchOf = (pull: number): string => `topic/${pull}`;
const fork = { full_name: 'ada/dragon' };

const changing = (...names: readonly string[]): readonly GitHubFile[] =>
  names.map((filename) => ({ filename, status: 'modified' }));

/** The part of GitHub that the recipe uses, with pages like those of GitHub. */
async function startGitHub({
  open,
  runs,
  ...options
}: {
  readonly open: Readonly<Record<number, readonly GitHubFile[]>>;
  readonly runs: readonly Run[];
  /** Runs that are too old to be rerun. */
  readonly refused?: readonly number[];
}): Promise<GitHub> {
  const rerun: number[] = [];
  const below = '/repos/octo-games/dragon/';
  const shown = ({ id, of, conclusion, event = 'pull_request' }: Run) => ({
    id,
    event,
    head_sha: event === 'pull_request' ? headOf(of) : headOf(0),
    head_branch: branchOf(of),
    head_repository: fork,
    status: conclusion === null ? 'in_progress' : 'completed',
    conclusion,
  });

  function instead({ method, url }: SeenRequest): Answer | undefined {
    const { pathname, searchParams } = new URL(url, 'http://github');
    const page = <T>(items: readonly T[]): readonly T[] => {
      const size = Number(searchParams.get('per_page'));
      return items.slice((Number(searchParams.get('page')) - 1) * size).slice(0, size);
    };
    const path = pathname.slice(below.length);
    if (path === 'pulls' && searchParams.get('state') === 'open') {
      const head = (pull: number) => ({ sha: headOf(pull), ref: branchOf(pull), repo: fork });
      return json(200, page(Object.keys(open).map((pull) => ({ number: Number(pull), head: head(Number(pull)) }))));
    }
    if (path === 'actions/workflows/locked-files.yml/runs') {
      const wanted = searchParams.get('status');
      const found = runs.map(shown).filter(({ status, conclusion }) => [status, conclusion].includes(wanted));
      return json(200, { total_count: found.length, workflow_runs: page(found) });
    }
    const [, id, again] = /^actions\/runs\/(\d+)(\/rerun-failed-jobs)?$/.exec(path) ?? [];
    const run = runs.find((each) => String(each.id) === id);
    if (run === undefined) return undefined;
    if (again === undefined) {
      const now = json(200, shown(run));
      run.conclusion ??= run.ends ?? null;
      return now;
    }
    if (options.refused?.includes(run.id)) return json(403, { message: 'Unable to retry this workflow run' });
    if (method !== 'POST' || run.conclusion !== 'failure') return notFound;
    rerun.push(run.id);
    return json(201, {});
  }

  const api = await startGitHubApi({ pulls: open, instead });
  return { ...api, rerun };
}

/** Runs the workflow that the recipe calls, with a `sleep` that returns at once. */
async function rerunGuards({ apiUrl }: GitHub, event: JobEvent) {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'sleep'), '#!/bin/sh\n');
  await chmod(join(folder, 'sleep'), 0o755);
  return runWorkflowJob({
    workflow: 'rerun-lock-guard.yml',
    inputs: caller.jobs['rerun']?.with ?? {},
    run: { apiUrl },
    env: { PATH: `${folder}:${process.env['PATH']}` },
    event,
  });
}

const released: JobEvent = {
  name: 'repository_dispatch',
  ref: 'refs/heads/main',
  payload: { action: 'lock.released', client_payload: { data: { workspace: 'game', lock: { path: hero } } } },
};

test('reruns the failed guards of open pull requests that change the path, and no others', async () => {
  const many = Array.from({ length: 150 }, (_, index) => `Content/${index}.uasset`);
  const renamed: readonly GitHubFile[] = [{ filename: 'new', status: 'renamed', previous_filename: hero }];
  const github = await startGitHub({
    open: {
      ...Object.fromEntries(many.map((name, index) => [1_000 + index, changing(name)])),
      1: changing(...many, hero),
      2: renamed,
      3: changing('Content/Other.uasset'),
      4: changing(hero),
      5: changing(hero),
      6: changing(hero),
      7: changing(hero),
      8: changing(hero),
      9: changing(hero),
    },
    runs: [
      ...many.map((_, index): Run => ({ id: 1_000 + index, of: 9_000, conclusion: 'failure' })),
      { id: 11, of: 1, conclusion: 'failure' },
      { id: 21, of: 2, conclusion: 'failure' },
      { id: 31, of: 3, conclusion: 'failure' },
      { id: 41, of: 4, conclusion: 'success' },
      { id: 61, of: 6, conclusion: null, ends: 'failure' },
      { id: 71, of: 7, conclusion: null, ends: 'success' },
      { id: 81, of: 8, conclusion: 'failure' },
      { id: 92, of: 9, conclusion: 'failure', event: 'pull_request_target' },
      // A run of an earlier commit.
      { id: 91, of: 9, conclusion: 'failure', event: 'pull_request_target' },
    ],
    refused: [81],
  });
  const types = expect.arrayContaining(['lock.released']);
  expect(caller.on).toMatchObject({ repository_dispatch: { types } });
  const { result, annotations, job } = await rerunGuards(github, released);
  expect(await readdir(job.folders.workspace), 'what the path would do in a shell').toEqual([]);
  expect(github.rerun.toSorted((one, other) => one - other)).toEqual([11, 21, 61, 92]);
  expect(result).toBe('success');
  expect(annotations).toEqual([expect.objectContaining({ level: 'warning', message: expect.stringContaining('#8') })]);
});
