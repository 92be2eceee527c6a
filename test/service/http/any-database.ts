import { databaseKinds } from '../../support/databases.ts';

/** What tests run on in which the database has no part. */
export const anyDatabase = databaseKinds.slice(0, 1);
