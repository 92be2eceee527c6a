import { expect } from 'vitest';
import type { Ended, Given, Ground, Player } from './ground.ts';

/** An operation of a step, and a check of its report against the service. */
export interface Operation {
  readonly name: string;
  /** Prepares the required state, without a fault. */
  prepare?(player: Player): Promise<Given>;
  play(player: Player, given: Given): Promise<Ended>;
  /** Checks that the claims of the step match the service. */
  check(ground: Ground, ended: Ended, player: Player): Promise<void>;
}

const paths = ['Content/Hero.uasset', 'b'];

const step = (operation: string, given: Given, check: Operation['check']): Operation => ({
  name: operation,
  play: (player, more) => player.run({ operation, ...given, ...more }),
  check,
});

const takeThem = { operation: 'lock', path: paths.join('\n') };

async function handOn(player: Player): Promise<Given> {
  const { outputs } = await player.run({ ...takeThem, 'auto-release': 'false' });
  return { locks: outputs['locks'] ?? '' };
}

async function checkLock(ground: Ground, { conclusion, outputs }: Ended, { origin }: Player): Promise<void> {
  const { acquired, locks = '[]', status } = outputs;
  const told: readonly { readonly path: string; readonly id: string }[] = JSON.parse(locks);
  expect(acquired).toBe(String(conclusion === 'success'));
  expect(told.map(({ path }) => path)).toEqual(conclusion === 'success' ? paths : []);
  if (conclusion !== 'success') expect(status).not.toBe('acquired');
  const there = await ground.locks();
  for (const { path, id } of told) expect(there).toContainEqual(expect.objectContaining({ path, id, origin }));
}

async function checkUnlock(ground: Ground, { conclusion, outputs }: Ended): Promise<void> {
  const released: readonly string[] = JSON.parse(outputs['released'] ?? '[]');
  const there = await ground.locks();
  for (const { path } of there) expect(released).not.toContain(path);
  if (conclusion === 'success') expect(there).toEqual([]);
}

/** No one releases the locks by force: the check reports them as kept, or reports nothing. */
async function checkCheck(ground: Ground, { conclusion, outputs }: Ended): Promise<void> {
  const there = await ground.locks();
  expect(outputs['status']).toBe(conclusion === 'success' ? 'kept' : undefined);
  if (conclusion === 'success') expect(outputs['count']).toBe(String(there.length));
}

/** The post-step names each remaining lock, and says how to release it by hand. */
async function checkPost(ground: Ground, { log, annotations }: Ended): Promise<void> {
  const warnings = annotations.filter(({ level }) => level === 'warning').map(({ message }) => message);
  for (const { path, id } of await ground.locks()) {
    expect(log).toContain(`${path}: not released`);
    expect(warnings.join('\n')).toContain(id);
    expect(warnings.join('\n')).toContain('curl -X DELETE');
  }
}

const countOf = (ended: Ended, many: number): void => {
  if (ended.conclusion === 'success') expect(ended.outputs['count']).toBe(String(many));
};

/** All operations, and the end of a job. */
export const operations: readonly Operation[] = [
  step('sync', { branch: 'main' }, async (ground, { conclusion, outputs }) => {
    const { sync_id: id } = outputs;
    expect(id !== undefined).toBe(conclusion === 'success');
    if (id !== undefined) expect(await ground.hasSync(id)).toBe(true);
  }),
  step('lock', { path: paths.join('\n') }, checkLock),
  { ...step('unlock', {}, checkUnlock), prepare: handOn },
  { ...step('check', {}, checkCheck), prepare: handOn },
  step('list-locks', {}, async (_, ended) => countOf(ended, 0)),
  step('register-hook', { 'hook-url': 'https://ci.example.com/hook' }, async (ground, { conclusion, outputs }) => {
    const hooks = await ground.hooks();
    // However many requests were sent, there is at most one hook.
    expect(hooks.length).toBeLessThanOrEqual(1);
    if (conclusion === 'success') expect(hooks).toEqual([outputs['hook_id']]);
  }),
  // The token is limited to one workspace.
  step('list-workspaces', {}, async (_, ended) => countOf(ended, 1)),
  step('list-branches', {}, async (_, ended) => countOf(ended, 1)),
  {
    name: 'the post-step',
    async prepare(player) {
      expect(await player.run(takeThem)).toMatchObject({ conclusion: 'success' });
      return {};
    },
    play: (player) => player.post(),
    check: checkPost,
  },
];
