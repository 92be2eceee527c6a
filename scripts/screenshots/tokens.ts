import type { Database, Storage } from '../../src/service/storage/storage.ts';
import { secretHash } from '../../src/service/tokens/secret.ts';
import type { Picture } from './pictured-service.ts';
import { withPicturedService } from './pictured-service.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

interface PicturedToken {
  readonly name: string;
  readonly owner?: string;
  readonly scopes: readonly string[];
  readonly workspaces?: readonly string[];
  readonly daysOld: number;
  readonly daysLeft: number | null;
  readonly revoked?: boolean;
}

const tokens: readonly PicturedToken[] = [
  {
    name: 'release pipeline',
    scopes: ['sync', 'locks:write'],
    workspaces: ['game'],
    daysOld: 40,
    daysLeft: 50,
  },
  { name: 'lock guard', scopes: ['locks:read'], daysOld: 40, daysLeft: 325 },
  {
    name: 'build webhooks',
    scopes: ['hooks:write'],
    workspaces: ['game', 'film'],
    daysOld: 12,
    daysLeft: 18,
  },
  {
    name: 'grace, on call',
    owner: 'grace',
    scopes: ['locks:admin'],
    daysOld: 6,
    daysLeft: 84,
  },
  { name: 'grace, laptop', owner: 'grace', scopes: ['locks:write'], daysOld: 6, daysLeft: 84 },
  {
    name: 'trailer render',
    scopes: ['sync', 'locks:write'],
    workspaces: ['film'],
    daysOld: 60,
    daysLeft: -30,
  },
  { name: 'old build machine', scopes: ['sync'], daysOld: 200, daysLeft: null, revoked: true },
];

const idOf = (index: number): string => `tok_00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

const insertToken = (db: Database, at: number, index: number, token: PicturedToken) =>
  db
    .insertInto('tokens')
    .values({
      id: idOf(index),
      name: token.name,
      owner: token.owner ?? token.name,
      hash: secretHash(token.name),
      scopes: JSON.stringify(token.scopes),
      workspaces: token.workspaces === undefined ? null : JSON.stringify(token.workspaces),
      created_at: at - token.daysOld * day,
      expires_at: token.daysLeft === null ? null : at + token.daysLeft * day,
      revoked_at: token.revoked ? at - day : null,
    })
    .execute();

async function furnish({ commit }: Storage): Promise<void> {
  const now = Date.now();
  await commit('global', async (db) => {
    for (const [index, token] of tokens.entries()) await insertToken(db, now, index + 1, token);
  });
}

const picture = (name: string, path: string): Picture => ({
  name,
  show: (page, take) =>
    withPicturedService({}, async ({ storage, open }) => {
      await furnish(storage);
      await open(page, path);
      await take();
    }),
});

export const tokenPictures: readonly Picture[] = [picture('tokens', '/tokens')];
