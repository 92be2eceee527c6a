import { Refusal } from '../../contract/problem.ts';
import type { Storage } from '../../storage/storage.ts';
import { findHook, type HookRow } from '../../webhooks/hooks.ts';
import { type PageCall, workspaceOf } from '../frame/page.ts';

export interface AddressedHook {
  readonly workspace: string;
  readonly hook: HookRow;
}

export const noSuchHook = (): Refusal =>
  new Refusal('not-found', 'This workspace has no such webhook. It may have been removed.');

export const noSuchDelivery = (): Refusal =>
  new Refusal('not-found', 'This webhook has no such delivery. Finished ones are kept for a week.');

const idAfter = (prefix: string, text: string): string | undefined =>
  text.startsWith(prefix) && /^[0-9a-f-]{36}$/.test(text.slice(prefix.length)) ? text : undefined;

/** The webhook in the address. An impossible id is not looked up: it may have characters that a database refuses. */
export async function addressedHook(call: PageCall, storage: Storage): Promise<AddressedHook> {
  const { id: workspace } = await workspaceOf(call, storage);
  const id = idAfter('hook_', call.c.req.param('hook') ?? '');
  const hook = id === undefined ? undefined : await findHook(storage.read, workspace, id);
  if (hook === undefined) throw noSuchHook();
  return { workspace, hook };
}

export function addressedDeliveryId({ c }: PageCall): string {
  const id = idAfter('msg_', c.req.param('delivery') ?? '');
  if (id === undefined) throw noSuchDelivery();
  return id;
}
