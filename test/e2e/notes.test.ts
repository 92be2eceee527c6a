import { describe, expect, test } from 'vitest';
import { json, problem } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { errorsOf, jobAt, openScene } from './scene.ts';

const scene = openScene();
const note = 'New armor <b>@team</b> `x`, until Friday';

async function lockedWithNote(path: string): Promise<string> {
  const workspace = await scene.service.workspace();
  const { secret } = await scene.service.token({ name: 'grace' });
  const lock = { path, type: 'exclusive', ttl: '2h', note };
  const reply = await scene.service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token: secret, json: lock });
  expect(reply.status).toBe(201);
  return workspace;
}

describe('the note of a lock', () => {
  test('is in the error and in the summary, as plain text', async () => {
    const job = await scene.job({ workspace: await lockedWithNote('a') });
    const result = await job.run({ with: { operation: 'lock', path: 'a' } });
    expect(errorsOf(result)).toEqual([expect.stringContaining(`, with the note "${note}". Set `)]);
    expect(result.summary).toContain('<th>Run</th><th>Note</th>');
    expect(result.rawSummary).toContain('<td>New armor &lt;b&gt;@<wbr>team&lt;/b&gt; `x`, until Friday</td>');
    expect(result.rawSummary).not.toContain('<b>');
  });

  test('is in the log line of a waiting step', async () => {
    const workspace = await lockedWithNote('a');
    const job = await scene.job({ workspace });
    const step = await job.step({ with: { operation: 'lock', path: 'a', wait: '10m' } });
    await step.waitForLog(`, with the note "${note}". You are number 1 of 1 in line. Waiting, `);
    await scene.release(workspace, 'a');
    const result = await step.finished;
    expect(result).toMatchObject({ outputs: { acquired: 'true' } });
    // The duration is logged only once.
    expect(result.log).toMatch(/ after waiting for [\d.]+ s\.$/m);
    expect(result.log).not.toContain('It took');
  });

  test('is in the annotation and the summary of a guard, and in the output locks', async () => {
    const job = await scene.job({ workspace: await lockedWithNote('a') });
    const result = await job.run({ with: { operation: 'list-locks', path: 'a', 'fail-if-locked': 'true' } });
    expect(result.annotations.find(({ file }) => file === 'a')?.message).toMatch(/, with the note "New armor .*"\.$/);
    expect(result.summary).toContain('<th>Note</th>');
    expect(JSON.parse(result.outputs['locks'] ?? '')).toMatchObject([{ path: 'a', note }]);
  });

  test('is in the error of a check if another holder has the lock', async () => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace });
    await job.run({ with: { operation: 'lock', path: 'a' } });
    await scene.release(workspace, 'a');
    const { secret } = await scene.service.token({ name: 'grace' });
    const lock = { path: 'a', type: 'exclusive', ttl: '2h', note };
    await scene.service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token: secret, json: lock });
    const result = await job.run({ with: { operation: 'check' } });
    expect(errorsOf(result)).toEqual([expect.stringContaining(`, with the note "${note}".`)]);
  });

  test('is limited to one line of bounded length, without secrets and workflow commands', async () => {
    const secret = 'wsa_of_another_service';
    const long = `x\n::error::y ${secret} ${'z'.repeat(500)}`;
    const holder = { path: 'a', owner: 'grace', note: long };
    const server = await startOtherServer(problem(409, { title: 'Locked', lock: holder }));
    const result = await (await jobAt(server.baseUrl)).run({ with: { operation: 'lock', path: 'a' } });
    const [message = ''] = errorsOf(result);
    expect(message).toMatch(/with the note "x ::error::y \*\*\* z{100,200}…"\./);
    expect(result.annotations).toHaveLength(1);
  });

  test('has no column in the summary if no lock has a note', async () => {
    const server = await startOtherServer(json(200, { locks: [{ path: 'a', owner: 'grace', note: null }] }));
    const result = await (await jobAt(server.baseUrl)).run({ with: { operation: 'list-locks' } });
    expect(result.summary).not.toContain('Note');
  });
});
