import { describe, expect, test } from 'vitest';
import { errorsOf, openScene } from './scene.ts';

const scene = openScene();

test('releases the locks of another job by its output, but leaves those with a new holder alone, and fails', async () => {
  const workspace = await scene.service.workspace();
  const first = await scene.job({ workspace });
  const locking = await first.run({ with: { operation: 'lock', path: 'a\nb\nc', 'auto-release': 'false' } });
  await scene.release(workspace, 'b');
  await scene.lock(workspace, 'b');
  const second = await scene.job({ workspace, env: { WORKSPACE_TOKEN: first.token } });
  const result = await second.run({ with: { operation: 'unlock', locks: locking.outputs['locks'] ?? '' } });
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  expect(result.outputs).toEqual({ status: 'lost', released: '["a","c"]' });
  expect(result.log).toMatch(/Released 2 locks in \S+, 1 lost\.\n {2}b: lost, held by grace until /);
  expect(errorsOf(result)).toEqual([
    expect.stringMatching(/^This job lost its lock on b\. .* b is held by grace until /),
  ]);
  expect(result.summary).toContain('<tr><td>b</td><td>lost</td><td>grace</td>');
  expect(await scene.locked(workspace)).toEqual(['b']);
});

test('reports a path that the job has already released as not locked, and leaves that of a later holder alone', async () => {
  const workspace = await scene.service.workspace();
  const job = await scene.job({ workspace });
  const locking = await job.run({ with: { operation: 'lock', path: 'a' } });
  const unlock = { with: { operation: 'unlock', path: 'a' } };
  expect(await job.run(unlock)).toMatchObject({ outputs: { status: 'released' } });
  const again = await job.run(unlock);
  expect(again).toMatchObject({ conclusion: 'success', annotations: [], outputs: { released: '[]' } });
  expect(again.log).toContain('a: not locked');
  await scene.lock(workspace, 'a');
  const result = await job.run({ with: { operation: 'unlock', locks: locking.outputs['locks'] ?? '' } });
  expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'held', released: '[]' } });
  expect(await scene.locked(workspace)).toEqual(['a']);
});

test('does not report a lock of another job as lost that the job itself released in an earlier step', async () => {
  const workspace = await scene.service.workspace();
  const first = await scene.job({ workspace });
  const locking = await first.run({ with: { operation: 'lock', path: 'a', 'auto-release': 'false' } });
  const second = await scene.job({ workspace, env: { WORKSPACE_TOKEN: first.token } });
  const unlock = { with: { operation: 'unlock', locks: locking.outputs['locks'] ?? '' } };
  expect(await second.run(unlock)).toMatchObject({ outputs: { status: 'released' } });
  await scene.lock(workspace, 'a');
  expect(await second.run(unlock)).toMatchObject({
    conclusion: 'success',
    outputs: { status: 'held', released: '[]' },
    annotations: [{ level: 'warning', message: expect.stringContaining('may already have released its own') }],
  });
  expect(await scene.locked(workspace)).toEqual(['a']);
});

describe('the release of a lock of another owner', () => {
  test('fails the step if it is refused, after everything else was released', async () => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace, scopes: ['locks:write'] });
    await job.run({ with: { operation: 'lock', path: 'a\nc', 'auto-release': 'false' } });
    await scene.lock(workspace, 'b', { origin: '' });
    const result = await job.run({ with: { operation: 'unlock', path: 'a\nb\nc' } });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(result.outputs).toEqual({ status: 'released', released: '["a","c"]' });
    expect(errorsOf(result)).toEqual([
      expect.stringContaining('the service does not let this token release that lock'),
    ]);
    expect(result.log).toContain('b: not released, held by grace until ');
    expect(await scene.locked(workspace)).toEqual(['b']);
  });

  test('needs a token with the scope locks:admin and force', async () => {
    const workspace = await scene.service.workspace();
    await scene.lock(workspace, 'a');
    const forced = { with: { operation: 'unlock', path: 'a', force: 'true' } };
    const result = await (await scene.job({ workspace, scopes: ['locks:write'] })).run(forced);
    expect(result.conclusion).toBe('failure');
    expect(errorsOf(result)[0]).toMatch(
      /^The lock on a was not released\. a is held by grace until .*\. This needs the scope locks:admin/,
    );
    expect(await scene.locked(workspace)).toEqual(['a']);
    const admin = await scene.job({ workspace, scopes: ['locks:admin'] });
    expect(await admin.run(forced)).toMatchObject({ conclusion: 'success', outputs: { released: '["a"]' } });
    expect(await scene.locked(workspace)).toEqual([]);
  });
});

test('a forced unlock by `locks` releases exactly these locks of another owner, and no later ones', async () => {
  const workspace = await scene.service.workspace();
  const first = await scene.job({ workspace, name: 'ada', scopes: ['locks:write'] });
  const locking = await first.run({ with: { operation: 'lock', path: 'a\nb', 'auto-release': 'false' } });
  await scene.release(workspace, 'b');
  await scene.lock(workspace, 'b');
  const locks = locking.outputs['locks'] ?? '';
  const second = await scene.job({ workspace, name: 'build-bot', scopes: ['locks:admin'] });
  const refused = await second.run({ with: { operation: 'unlock', locks } });
  expect(refused).toMatchObject({ conclusion: 'failure', outputs: { released: '[]' } });
  const result = await second.run({ with: { operation: 'unlock', locks, force: 'true' } });
  expect(result.outputs).toEqual({ status: 'lost', released: '["a"]' });
  expect(await scene.locked(workspace)).toEqual(['b']);
});
