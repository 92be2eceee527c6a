import type { Page } from 'playwright-core';
import { hookPictures } from './hooks.ts';
import { lockPictures } from './locks.ts';
import { syncPictures } from './syncs.ts';
import { tokenPictures } from './tokens.ts';

export interface Picture {
  /** Of the files in docs/images. */
  readonly name: string;
  /** Leads an empty page, whose clock stands at `pictureTime`, to what the picture shows. */
  readonly show: (page: Page) => Promise<void>;
}

/** What `npm run screenshots` takes, in this order. */
export const pictures: readonly Picture[] = [...syncPictures, ...lockPictures, ...hookPictures, ...tokenPictures];
