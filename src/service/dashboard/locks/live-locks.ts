import type { HeldLock } from '../../locks/list.ts';
import type { LockNews } from '../../locks/lock-follower.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import type { Listener } from '../live/live-page.ts';
import { shownLock } from './shown-lock.ts';

/** Small enough that a browser shows the page between two of them, and that no single write is large. */
const atOnce = 1_000;

function* chunksOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let first = 0; first < items.length; first += atOnce) yield items.slice(first, first + atOnce);
}

/**
 * The events: `snapshot` (all locks in parts, the last of which says so), then `changed` (locks that were taken or
 * renewed) and `removed` (paths that are free).
 */
export async function tellLocks(
  news: AsyncIterable<LockNews>,
  bearer: Bearer,
  { send }: Pick<Listener, 'send'>,
): Promise<void> {
  const shown = (locks: readonly HeldLock[]) => locks.map((held) => shownLock(bearer, held));
  for await (const each of news) {
    switch (each.kind) {
      case 'all':
        for (const locks of chunksOf(each.locks)) await send('snapshot', { locks: shown(locks), last: false });
        await send('snapshot', { locks: [], last: true });
        break;
      case 'changed':
        for (const paths of chunksOf(each.free)) await send('removed', { paths });
        for (const locks of chunksOf(each.locks)) await send('changed', { locks: shown(locks) });
        break;
    }
  }
}
