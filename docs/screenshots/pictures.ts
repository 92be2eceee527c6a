import type { Page } from 'playwright-core';
import { hookPictures } from './hooks.ts';
import { lockPictures } from './locks.ts';
import { syncPictures } from './syncs.ts';
import { tokenPictures } from './tokens.ts';

export interface Picture {
  /** Of its files in docs/images. */
  readonly name: string;
  /** Brings an empty page, whose clock stands at `pictureTime`, to what the picture is to show. */
  readonly show: (page: Page) => Promise<void>;
}

/** What `npm run screenshots` takes, in this order. */
export const pictures: readonly Picture[] = [...syncPictures, ...lockPictures, ...hookPictures, ...tokenPictures];
