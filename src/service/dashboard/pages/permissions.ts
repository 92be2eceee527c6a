import { html } from 'hono/html';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { grants, isScope, type Scope, scopeMeanings, scopes } from '../../../interface/scopes.ts';
import type { Storage } from '../../storage/storage.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { choices, type FormField, group } from '../elements/fields.ts';
import { faint, literals, type Markup } from '../elements/text.ts';
import type { Form } from '../frame/form.ts';

/** The scopes of a token or a job. `above` precedes the choices. */
export const scopesField = (offered: readonly Scope[], above: Markup | string = ''): FormField =>
  group('scopes', 'Scopes', (values, wrong) => {
    const options = offered.map((scope) => [scope, html`<code>${scope}</code>`, hintOf(scope)] as const);
    return html`${above}${choices(values, { type: 'checkbox', name: 'scope', wrong, options })}`;
  });

/** `ids` are the available workspaces; `onlyThese` is the hint for choosing some of them. */
export function workspacesField(ids: readonly string[], onlyThese: string): FormField {
  const all = ['all', 'all, including those added later'] as const;
  const some = ['some', 'only these', onlyThese] as const;
  return group(
    'workspaces',
    'Workspaces',
    (values, wrong) =>
      html`${choices(values, { type: 'radio', name: 'reach', options: ids.length === 0 ? [all] : [all, some] })}
      ${
        ids.length === 0
          ? html`<p class="hint">There are no workspaces yet.</p>`
          : html`<div class="under">${choices(values, { type: 'checkbox', name: 'workspace', wrong, options: ids.map((id) => [id, id]) })}</div>`
      }`,
  );
}

export function readScopes(form: Form): Parsed<readonly Scope[]> {
  const texts = form.all('scope');
  const scopes = [...new Set(texts.filter(isScope))];
  if (texts.some((text) => !isScope(text))) return refused('One of these scopes is unknown. Choose again.');
  return scopes.length === 0 ? refused('Choose at least one scope.') : accepted(scopes);
}

/** Null for all. */
export function readWorkspaces(form: Form): Parsed<readonly string[] | null> {
  const reach = form.text('reach');
  const workspaces = form.all('workspace');
  if (reach === 'all') return accepted(null);
  if (reach !== 'some') return refused('Choose which workspaces it is for.');
  if (workspaces.length === 0) return refused('Choose at least one workspace, or all.');
  const unfit = workspaces.map(parseWorkspaceId).find((id) => !id.ok);
  return unfit === undefined || unfit.ok ? accepted([...new Set(workspaces)]) : unfit;
}

export const workspaceIds = async ({ read }: Pick<Storage, 'read'>): Promise<readonly string[]> =>
  (await listWorkspaces(read)).map(({ id }) => id);

export const scopeList = (scopes: readonly Scope[]): Markup => (scopes.length === 0 ? faint('none') : literals(scopes));

export const workspaceList = (workspaces: readonly string[] | null): Markup =>
  workspaces === null ? html`all` : literals(workspaces);

function hintOf(scope: Scope): Markup | string {
  const meaning = sentence(scopeMeanings[scope]);
  if (scope === 'admin') {
    return html`${meaning} <strong>It grants all permissions, including tokens for others.</strong> It is for
      people who run the service, not for workflows.`;
  }
  const implied = scopes.filter((other) => other !== scope && grants([scope], other));
  return implied.length === 0 ? meaning : html`${meaning} Includes ${implied.join(' and ')}.`;
}

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}.`;
