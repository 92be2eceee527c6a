import { expect, onTestFinished, test } from 'vitest';
import { operations } from '../../src/action/inputs/table.ts';
import { grants, isScope, type Scope, scopes } from '../../src/interface/scopes.ts';
import { openScene } from '../e2e/scene.ts';
import { createRepository } from '../support/git-repository.ts';
import type { StepResult } from '../support/runner/step.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { actionPage, codeIn, section, tableRows } from './pages.ts';

const scene = openScene({ resolve: async () => ['93.184.215.14'] });

const path = 'Content/Hero.uasset';

const remote = createRepository(folderOfTests());
remote.commit({ branch: 'main', files: { [path]: 'hero' } });

interface Trial {
  readonly with: Readonly<Record<string, string>>;
  /** The holder of the path before the step: the same token, or one of its owner if its scopes do not allow it, or another owner. */
  readonly holder?: 'itself' | 'another';
}

/** A step for each row of the table; the key is the code in the first column. */
const trials: Readonly<Record<string, Trial>> = {
  'list-workspaces': { with: { operation: 'list-workspaces' } },
  'list-branches': { with: { operation: 'list-branches' } },
  sync: { with: { operation: 'sync', branch: 'main', wait: '1m' } },
  'list-locks': { with: { operation: 'list-locks' } },
  // The lock of another holder, with nothing that identifies it.
  check: {
    with: { operation: 'check', locks: JSON.stringify([{ path, expires_at: '2999-01-01T00:00:00Z' }]) },
    holder: 'another',
  },
  lock: { with: { operation: 'lock', path } },
  unlock: { with: { operation: 'unlock', path }, holder: 'itself' },
  'unlock force: true': { with: { operation: 'unlock', path, force: 'true' }, holder: 'another' },
  'register-hook': { with: { operation: 'register-hook', 'hook-url': 'https://ci.example.com/hook' } },
};

const rows = tableRows(section(actionPage, 'Scopes and permissions'), 'Operation').map(([what = '', needs = '']) => ({
  what: codeIn(what).join(' '),
  needs: codeIn(needs)[0] ?? needs,
}));

async function tryWith(given: readonly Scope[], trial: Trial | undefined, env = {}): Promise<StepResult> {
  if (trial === undefined) throw new Error('The test does not know how to try this row of the table.');
  const workspace = await scene.service.workspace(remote.path);
  const job = await scene.job({ workspace, scopes: given, env, ...(trial.holder === 'itself' && { name: 'ada' }) });
  if (trial.holder === 'another') await scene.lock(workspace, path);
  if (trial.holder === 'itself') {
    const json = { path, type: 'exclusive', ttl: '1h' };
    const { status } = await scene.service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token: job.token, json });
    if (status !== 201) await scene.lock(workspace, path, { name: 'ada', origin: '' });
  }
  onTestFinished(async () => void (await job.post()));
  return job.run({ with: trial.with });
}

test('the table of scopes has every operation', () => {
  expect(new Set(rows.map(({ what }) => what.split(' ')[0]))).toEqual(new Set(operations));
});

test.each(rows.filter(({ needs }) => isScope(needs)))(
  '$what works with $needs alone, and names that scope in its error without it',
  async ({ what, needs }) => {
    if (!isScope(needs)) return;
    const result = await tryWith([needs], trials[what]);
    expect(result.annotations.filter(({ level }) => level === 'error')).toEqual([]);
    expect(result).toMatchObject({ conclusion: 'success' });
    if (what.startsWith('unlock')) expect(result.outputs['status']).toBe('released');

    const others = scopes.filter((scope) => !grants([scope], needs));
    const { conclusion, annotations } = await tryWith(others, trials[what]);
    expect(conclusion).toBe('failure');
    expect(annotations.map(({ message }) => message).join()).toContain(
      `Use a token or a trust rule that has the scope ${needs} (`,
    );
  },
);

test.each(rows.filter(({ needs }) => !isScope(needs)))(
  '$what works with a token for an unrelated scope, and fails with an invalid token',
  async ({ what, needs }) => {
    expect(needs).toBe('any token');
    const allowed = await tryWith(['hooks:write'], trials[what]);
    expect(allowed).toMatchObject({ conclusion: 'success', annotations: [] });
    const { conclusion, log } = await tryWith([], trials[what], { WORKSPACE_TOKEN: 'wsa_of_another_service' });
    expect(conclusion).toBe('failure');
    expect(log).toContain('401 Unauthorized');
  },
);
