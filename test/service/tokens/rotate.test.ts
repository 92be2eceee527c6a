import { describe, expect, test } from 'vitest';
import { type Actor, readAudit } from '../../../src/service/audit/audit.ts';
import { newTokenId } from '../../../src/service/tokens/secret.ts';
import {
  authenticate,
  createToken,
  findToken,
  type NewToken,
  rotateToken,
} from '../../../src/service/tokens/tokens.ts';
import { databaseKinds } from '../../support/databases.ts';
import { operator } from '../../support/operator.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows, findRows, revoke } from '../../support/stored-rows.ts';

const actor: Actor = { name: 'root', tokenId: 'tok_root', address: '192.0.2.7' };
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe.each(databaseKinds)('rotating a token on $name', (kind) => {
  const storage = sharedStorage(kind);

  const laptop = {
    name: 'laptop',
    owner: 'ada',
    scopes: ['locks:write'],
    workspaces: ['game'],
    lifetime: null,
  } as const;
  const create = (more: Partial<NewToken> = {}) =>
    storage.commit('global', (db) => createToken(db, operator, { ...laptop, ...more }));
  const rotate = (id: string) => storage.commit('global', (db) => rotateToken(db, actor, id));
  async function rotated(id: string) {
    const rotation = await rotate(id);
    if (rotation.kind !== 'rotated') throw new Error(`It was ${rotation.kind}.`);
    return rotation;
  }
  const found = async (id: string) => (await findToken(storage.read, id)) ?? expect.fail('It is gone.');

  test('creates a secret with the same name, owner and scopes, and keeps the old one valid for a while', async () => {
    const old = await create();
    const { token, secret, oldValidUntil } = await rotated(old.token.id);
    expect(secret).not.toBe(old.secret);
    expect(token).toMatchObject({ name: 'laptop', owner: 'ada', scopes: ['locks:write'], workspaces: ['game'] });
    expect([token.state, token.expires_at, token.replaced_by]).toEqual(['active', null, null]);
    expect(Date.parse(oldValidUntil) - Date.parse(token.created_at)).toBe(7 * dayMs);
    expect(await found(old.token.id)).toMatchObject({
      state: 'active',
      expires_at: oldValidUntil,
      replaced_by: token.id,
    });
    for (const [valid, id] of [
      [old.secret, old.token.id],
      [secret, token.id],
    ] as const) {
      expect(await authenticate(storage, valid)).toMatchObject({ ok: true, value: { id, owner: 'ada' } });
    }
  });

  test('does not extend the lifetime of the old secret, and gives the new one the original lifetime', async () => {
    const old = await create({ lifetime: { seconds: 7_200 } });
    const { token, oldValidUntil } = await rotated(old.token.id);
    expect(oldValidUntil).toBe(old.token.expires_at);
    expect((await found(old.token.id)).expires_at).toBe(old.token.expires_at);
    expect(Date.parse(token.expires_at ?? '') - Date.parse(token.created_at)).toBe(2 * hourMs);
    const later = await create({ lifetime: { seconds: 30 * 86_400 } });
    const { oldValidUntil: end } = await rotated(later.token.id);
    expect(Date.parse(end)).toBeLessThan(Date.parse(later.token.expires_at ?? ''));
  });

  test('rotates the token once, even if requested several times, also concurrently', async () => {
    const { token } = await create({ owner: 'once' });
    const same = await Promise.all([1, 2, 3].map(() => rotate(token.id)));
    expect(same.map(({ kind }) => kind).toSorted()).toEqual(['over', 'over', 'rotated']);
    expect(same.filter((one) => 'secret' in one)).toHaveLength(1);
    expect(await findRows(storage, 'tokens', { owner: 'once' })).toHaveLength(2);
  });

  test('refuses revoked, expired and unknown tokens', async () => {
    const revoked = await create();
    await revoke(storage, revoked.token.id);
    const expired = await create({ lifetime: { seconds: 60 } });
    await changeRows(storage, 'tokens', { expires_at: 1 }, { id: expired.token.id });
    for (const { token } of [revoked, expired]) {
      const before = await found(token.id);
      expect((await rotate(token.id)).kind).toBe('over');
      expect(await found(token.id)).toEqual(before);
    }
    expect(await rotate(newTokenId())).toEqual({ kind: 'unknown' });
  });

  test('records the rotation without the secret', async () => {
    const { token: old } = await create();
    const { token, oldValidUntil, secret } = await rotated(old.id);
    const { entries } = await readAudit(storage, { limit: 2 });
    const detail = {
      token: old.id,
      name: 'laptop',
      owner: 'ada',
      replaced_by: token.id,
      old_valid_until: oldValidUntil,
    };
    expect(entries).toMatchObject([
      { actor: 'root', action: 'token.rotated', detail },
      { actor: 'root', action: 'token.created', detail: { token: token.id, name: 'laptop', owner: 'ada' } },
    ]);
    expect(JSON.stringify(entries)).not.toContain(secret);
  });
});
