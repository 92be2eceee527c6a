import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { expectProblem } from './expect-problem.ts';
import { locksOf, sharedService } from './shared-service.ts';

describe.each(databaseKinds)('the note of a lock on $name', (kind) => {
  const service = sharedService(kind);

  /** An empty workspace, as seen by two owners. */
  async function newWorkspace() {
    const id = await service.workspace();
    const locksAs = async (name: string) => locksOf(service, id, (await service.token({ name })).secret);
    const [ada, bob] = [await locksAs('ada'), await locksAs('bob')];
    const { secret } = await service.token({ name: 'ada' });
    const takeWith = (note: unknown, more: { readonly path?: string; readonly ifMatch?: string } = {}) =>
      service.ask('POST', `/v1/workspaces/${id}/locks`, {
        token: secret,
        json: { path: more.path ?? 'a', type: 'exclusive', ttl: '1h', note },
        ...(more.ifMatch !== undefined && { headers: { 'if-match': more.ifMatch } }),
      });
    return { id, ada, bob, takeWith };
  }

  const note = 'Repainting the hull — back on Monday';

  test('is in every response that names the holder', async () => {
    const { ada, bob, takeWith } = await newWorkspace();
    const { status, body: held } = await takeWith(note);
    expect([status, held.note]).toEqual([201, note]);
    expect((await bob.list()).body.locks).toEqual([held]);
    const locked = expectProblem(await bob.take('a'), 'locked');
    expect(locked.lock).toEqual(held);
    expect(locked.detail).toContain(`with the note "${note}"`);
    for (const response of [
      await ada.take('a', { 'if-match': '"lock_1"' }),
      await bob.release('a', { 'if-match': '"x"' }),
    ]) {
      expect(expectProblem(response, 'lock-changed').lock).toEqual(held);
    }
    expect(expectProblem(await bob.release('a'), 'lock-of-another-owner').lock).toEqual(held);
  });

  test('stays when the lock is renewed, and is removed with it', async () => {
    const { ada, takeWith } = await newWorkspace();
    const { body: held } = await takeWith(note);
    const ifMatch = `"${held.id}"`;
    for (const renewed of [await ada.take('a', { 'if-match': ifMatch }), await takeWith('another', { ifMatch })]) {
      expect([renewed.status, renewed.body.note]).toEqual([200, note]);
    }
    expect((await ada.list()).body.locks).toMatchObject([{ id: held.id, note }]);
    await ada.release('a');
    expect((await ada.take('a')).body.note).toBeNull();
    expect(expectProblem(await ada.take('a'), 'locked').detail).not.toContain('note');
  });

  test('is one readable line, normalized and trimmed, and null if it is blank', async () => {
    const { ada, takeWith } = await newWorkspace();
    const notes: unknown[] = [];
    for (const given of ['  Cafe\u0301  ', 'x'.repeat(200), '', ' ', null, undefined]) {
      const { status, body } = await takeWith(given);
      expect([given, status]).toEqual([given, 201]);
      notes.push(body.note);
      await ada.release('a');
    }
    expect(notes).toEqual(['Caf\u00e9', 'x'.repeat(200), null, null, null, null]);
    for (const given of ['x'.repeat(201), 'two\nlines', 'a\u0000', '\u202eabc', '\ud800', 7, ['a'], { a: 1 }]) {
      const { errors } = expectProblem(await takeWith(given), 'invalid-request');
      expect([given, errors]).toEqual([given, [{ pointer: '#/note', detail: expect.any(String) }]]);
    }
    expect(await ada.paths()).toEqual([]);
  });
});
