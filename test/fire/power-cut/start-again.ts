import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sql } from 'kysely';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import type { Image } from './disk.ts';
import type { Owed } from './promises.ts';

async function whatIsWrong({ read }: Storage, owed: Owed): Promise<string[]> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(read);
  const wrong = rows.map(({ integrity_check }) => integrity_check).filter((word) => word !== 'ok');

  const held = new Map(
    (await read.selectFrom('locks').select(['path', 'id']).execute()).map((lock) => [lock.path, lock.id]),
  );
  for (const [path, allowed] of owed.locks) {
    const found = held.get(path) ?? null;
    if (!allowed.includes(found)) wrong.push(`${path} has ${found} and not ${allowed.join(' or ')}`);
  }
  const { value } = await read
    .selectFrom('fences')
    .select(({ fn }) => fn.max('value').as('value'))
    .executeTakeFirstOrThrow();
  if (value < owed.highestFence) wrong.push(`the last fence is ${value}, and ${owed.highestFence} was given`);

  const count = async (table: 'tokens' | 'remembered_answers'): Promise<number> => {
    const { number } = await read
      .selectFrom(table)
      .select(sql<number>`count(*)`.as('number'))
      .executeTakeFirstOrThrow();
    return number;
  };
  const remembered = await count('remembered_answers');
  if (remembered < owed.given) wrong.push(`${remembered} answers are remembered, and ${owed.given} were given`);
  if (owed.token && (await count('tokens')) === 0) wrong.push('the printed token is missing');
  return wrong;
}

/** Opens a data folder after a power cut as the service does, and reports the missing data. */
export async function startAgain(image: Image, dataFolder: string, owed: Owed, emptied: string): Promise<string[]> {
  await rm(emptied, { recursive: true, force: true });
  await mkdir(emptied);
  for (const [name, content] of image) {
    if (dirname(name) === dataFolder) await writeFile(join(emptied, basename(name)), content);
  }
  try {
    const storage = await openSqlite({ folder: emptied });
    try {
      return await whatIsWrong(storage, owed);
    } finally {
      await storage.close();
    }
  } catch (error) {
    return [`it does not open: ${String(error)}`];
  }
}
