import { lockPictures } from './locks.ts';
import type { Picture } from './pictured-service.ts';
import { syncPictures } from './syncs.ts';
import { tokenPictures } from './tokens.ts';

/** What `npm run screenshots` takes, in this order. */
export const pictures: readonly Picture[] = [...syncPictures, ...lockPictures, ...tokenPictures];
