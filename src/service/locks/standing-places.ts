import { sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';
import type { LinePath } from './line.ts';

/** A place of a person. */
export interface StandingPlace extends LinePath {
  readonly placeId: string;
  readonly askedPath: string;
  readonly tokenId: string;
  readonly note: string | null;
  readonly ttl: number;
}

/** The places of people whose paths are free. */
export const freeStandingPlaces = ({ read, now }: Pick<Storage, 'read' | 'now'>): Promise<readonly StandingPlace[]> =>
  read
    .selectFrom('lock_places')
    .innerJoin('lock_lines', 'lock_lines.place_id', 'lock_places.id')
    .where('ttl', '>', 0)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('locks')
            .select('locks.id')
            .whereRef('locks.workspace_id', '=', 'lock_lines.workspace_id')
            .where(({ or, eb, ref }) =>
              or([
                eb('locks.path', '=', ref('lock_lines.asked_path')),
                eb('locks.folded_path', '=', ref('lock_lines.path')),
              ]),
            )
            .where(sql<boolean>`locks.expires_at > ${now}`),
        ),
      ),
    )
    .orderBy('lock_lines.rank')
    .select([
      'lock_places.id as placeId',
      'lock_lines.workspace_id as workspace',
      'lock_lines.path',
      'asked_path as askedPath',
      'token_id as tokenId',
      'note',
      sql<number>`ttl`.as('ttl'),
    ])
    .execute();
