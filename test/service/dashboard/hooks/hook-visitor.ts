import type { Reply } from '../../../support/running-service.ts';
import type { HookedService } from '../../webhooks/hooked-service.ts';
import { signedIn, type Visitor } from '../browser-like.ts';

export interface HookForm {
  readonly url: string;
  readonly event?: readonly string[];
  readonly branches?: string;
  readonly format?: string;
  readonly secret?: string;
  readonly headers?: string;
}

export interface HookVisitor extends Visitor {
  /** The hidden fields in the form of a new webhook. */
  newForm(workspace: string): Promise<Readonly<Record<string, string>>>;
  /** Fills in a new form, and sends it. */
  register(workspace: string, form: HookForm): Promise<Reply>;
}

const formIdIn = (page: string): string => /name="form_id" value="([^"]+)"/.exec(page)?.[1] ?? '';

/** A visitor who is signed in with a token that may only register webhooks, in all workspaces or in these. */
export async function hookVisitor(
  service: HookedService,
  workspaces: readonly string[] | null = null,
): Promise<HookVisitor> {
  const visitor = await signedIn(service, { scopes: ['hooks:write'], workspaces });
  const newForm: HookVisitor['newForm'] = async (workspace) => {
    const { text } = await visitor.get(`/workspaces/${workspace}/hooks/new`);
    return { form_id: formIdIn(text) };
  };
  return {
    ...visitor,
    newForm,
    async register(workspace, form) {
      const fields = { event: ['sync.succeeded'], format: 'standard', ...form };
      return visitor.post(`/workspaces/${workspace}/hooks`, { ...(await newForm(workspace)), ...fields });
    },
  };
}

export const secretIn = (page: string): string => /id="secret"[^>]*>(whsec_[^<]+)</.exec(page)?.[1] ?? '';

/** The error message of a field, as plain text. */
export function problemBeside(field: string, page: string): string | undefined {
  const text = new RegExp(`id="${field}-problem" role="alert">([^<]*)<`).exec(page)?.[1];
  return text?.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}
