import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { byteSize } from '../../../interface/transfer.ts';
import { isOverLimit, type MeasuredUsage } from '../../lfs/usage.ts';
import type { DiskSpace } from '../../runtime/free-disk.ts';
import type { Markup } from './text.ts';

export interface ObjectUsage {
  /** Undefined until measured. */
  readonly usage: MeasuredUsage | undefined;
  readonly limitBytes: number | null;
  readonly space: DiskSpace;
}

/** Size and limit of the LFS objects of a workspace; empty without objects and limit. */
export function objectUsage({ usage, limitBytes, space }: ObjectUsage): Markup {
  const { objects, bytes, neededBytes } = usage ?? { objects: 0, bytes: 0, neededBytes: null };
  if (objects === 0 && limitBytes === null) return html``;
  const limit = limitBytes === null ? '' : ` of at most ${byteSize(limitBytes)}`;
  const warning =
    isOverLimit(neededBytes, limitBytes) && neededBytes !== null
      ? html`<div class="warning"><p><strong>The LFS objects do not fit.</strong> The synced branches alone need ${byteSize(neededBytes)}${limit}. None of these is removed. Raise the limit with <code>workspace update --lfs-limit</code>.</p></div>`
      : '';
  return html`<p class="faint">${pluralize(objects, 'LFS object')}, ${byteSize(bytes)}${limit} · ${byteSize(space.free)} of ${byteSize(space.size)} free on the disk</p>${warning}`;
}
