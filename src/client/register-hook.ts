import type { WorkspaceId } from './access.ts';
import { firstName, type JsonObject, nameIn, textsIn } from './json.ts';
import { expectResource } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import { objectIn } from './response.ts';

export interface RegisterHookRequest {
  readonly workspace: WorkspaceId;
  readonly url: string;
  readonly events?: readonly string[] | undefined;
  readonly secret?: string | undefined;
  /** More members of the request. The fields above take precedence. */
  readonly options?: JsonObject | undefined;
}

export const createRegisterHook =
  ({ call, endpoints }: ClientContext) =>
  async ({ workspace, url, events, secret, options = {} }: RegisterHookRequest, within: CallLimits) => {
    const body = { ...options, url, ...(events && { events }), ...(secret !== undefined && { secret }) };
    const result = await call(
      {
        method: 'POST',
        target: endpoints.hooks(workspace),
        headers: { 'idempotency-key': crypto.randomUUID() },
        body,
        // Headers may contain credentials, so errors do not quote them either.
        secrets: [...textsIn(body.secret), ...textsIn(options['headers'])],
        expect: expectHook,
        anySuccess: true,
      },
      within,
    );
    const { response } = expectSuccess(result);
    const hook = objectIn(response);
    const id = firstName(hook, 'id', 'hook_id');
    return {
      hook_id: id && response.sanitizer.line(id, maxIdLength),
      /** A secret that the service generated, and returns only once. Callers must mask it before any other use. */
      madeSecret: body.secret === undefined ? nameIn(hook['secret']) : undefined,
    };
  };

const maxIdLength = 256;

const expectHook = expectResource('webhook', (hook) => firstName(hook, 'id', 'hook_id', 'url') !== undefined);
