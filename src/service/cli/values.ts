import { optional, required, textOf } from '../../command/flags.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Field } from '../contract/field.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';

export const parseFolder = textOf('the path of a folder');

export const optionalField = <T>({ placeholder, hint, otherwise, parse }: Field<T>) =>
  optional(placeholder, hint, parse, otherwise);

export const workspaceArgument = required('WORKSPACE', 'the id of the workspace', parseWorkspaceId);

/** Users confuse the secret of a token with its id, so the error does not quote the value. */
export const idOf =
  (kind: 'tok' | 'hook' | 'trust', listedBy: string) =>
  (text: string): Parsed<string> =>
    new RegExp(`^${kind}_[0-9a-f-]{36}$`).test(text)
      ? accepted(text)
      : refused(`It must be an id such as ${kind}_0b7c…, as listed by "${listedBy}".`);
