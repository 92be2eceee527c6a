import type { AuditAction } from '../../src/service/audit/audit.ts';
import type { Database, Storage } from '../../src/service/storage/storage.ts';
import { secretHash } from '../../src/service/tokens/secret.ts';
import type { Picture } from './pictured-service.ts';
import { administratorId, withPicturedService } from './pictured-service.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

interface PicturedToken {
  readonly name: string;
  readonly owner?: string;
  readonly scopes: readonly string[];
  readonly workspaces?: readonly string[];
  readonly daysOld: number;
  readonly daysLeft: number | null;
  readonly usedMinutesAgo: number | null;
  readonly revoked?: boolean;
}

const tokens: readonly PicturedToken[] = [
  {
    name: 'release pipeline',
    scopes: ['sync', 'locks:write'],
    workspaces: ['game'],
    daysOld: 40,
    daysLeft: 50,
    usedMinutesAgo: 4,
  },
  { name: 'lock guard', scopes: ['locks:read'], daysOld: 40, daysLeft: 325, usedMinutesAgo: 27 },
  {
    name: 'build webhooks',
    scopes: ['hooks:write'],
    workspaces: ['game', 'film'],
    daysOld: 12,
    daysLeft: 18,
    usedMinutesAgo: 17_000,
  },
  {
    name: 'grace, on call',
    owner: 'grace',
    scopes: ['locks:admin'],
    daysOld: 6,
    daysLeft: 84,
    usedMinutesAgo: 130,
  },
  { name: 'grace, laptop', owner: 'grace', scopes: ['locks:write'], daysOld: 6, daysLeft: 84, usedMinutesAgo: 12 },
  {
    name: 'trailer render',
    scopes: ['sync', 'locks:write'],
    workspaces: ['film'],
    daysOld: 60,
    daysLeft: -30,
    usedMinutesAgo: 52_000,
  },
  { name: 'old build machine', scopes: ['sync'], daysOld: 200, daysLeft: null, usedMinutesAgo: 70_000, revoked: true },
];

const idOf = (index: number): string => `tok_00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

const insertToken = (db: Database, at: number, index: number, token: PicturedToken) =>
  db
    .insertInto('tokens')
    .values({
      id: idOf(index),
      name: token.name,
      owner: token.owner ?? null,
      hash: secretHash(token.name),
      scopes: JSON.stringify(token.scopes),
      workspaces: token.workspaces === undefined ? null : JSON.stringify(token.workspaces),
      created_at: at - token.daysOld * day,
      expires_at: token.daysLeft === null ? null : at + token.daysLeft * day,
      revoked_at: token.revoked ? at - day : null,
      last_used_at: token.usedMinutesAgo === null ? null : at - token.usedMinutesAgo * minute,
    })
    .execute();

interface PicturedEntry {
  readonly minutesAgo: number;
  readonly actor: string;
  readonly tokenId: string | null;
  readonly address: string | null;
  readonly action: AuditAction;
  readonly detail: Readonly<Record<string, unknown>>;
}

const ada = { actor: 'ada', tokenId: administratorId, address: '192.0.2.17' };
const grace = { actor: 'grace, on call', tokenId: idOf(4), address: '192.0.2.40' };
const operator = { actor: 'operator:ada', tokenId: null, address: null };
const hook = { workspace: 'game', origin: 'https://ci.example.com' };

const entries: readonly PicturedEntry[] = [
  {
    ...operator,
    minutesAgo: 8_700,
    action: 'workspace.added',
    detail: { workspace: 'film', remote: 'https://git.example.com/studio/film.git' },
  },
  {
    ...ada,
    minutesAgo: 8_650,
    action: 'token.created',
    detail: { name: 'grace, on call', scopes: ['locks:admin'], workspaces: null },
  },
  { ...ada, minutesAgo: 1_440, action: 'token.revoked', detail: { name: 'old build machine' } },
  { ...ada, minutesAgo: 1_410, action: 'hook.registered', detail: hook },
  { ...grace, minutesAgo: 131, action: 'session.signed-in', detail: { by: 'token' } },
  {
    ...grace,
    minutesAgo: 130,
    action: 'lock.force-released',
    detail: {
      workspace: 'game',
      path: 'Content/Maps/Arena.umap',
      owner: 'release pipeline',
      reason: 'its runner lost power, and the level has to ship tonight',
    },
  },
  { ...ada, minutesAgo: 25, action: 'delivery.sent-again', detail: hook },
];

async function furnish({ commit }: Storage): Promise<void> {
  const now = Date.now();
  await commit('global', async (db) => {
    for (const [index, token] of tokens.entries()) await insertToken(db, now, index + 1, token);
    for (const { minutesAgo, actor, tokenId, address, action, detail } of entries) {
      const at = now - minutesAgo * minute;
      await db
        .insertInto('audit')
        .values({ at, actor, token_id: tokenId, address, action, detail: JSON.stringify(detail) })
        .execute();
    }
  });
}

const picture = (name: string, path: string): Picture => ({
  name,
  show: (page) =>
    withPicturedService({}, async ({ storage, open }) => {
      await furnish(storage);
      await open(page, path);
    }),
});

export const tokenPictures: readonly Picture[] = [picture('tokens', '/tokens'), picture('audit', '/audit')];
