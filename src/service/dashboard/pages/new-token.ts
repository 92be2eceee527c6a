import { html } from 'hono/html';
import type { Duration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { actorOf } from '../../access/caller.ts';
import { grants, isScope, type Scope, scopeMeanings, scopes } from '../../contract/scopes.ts';
import {
  isTokenPreset,
  scopeLimitProblem,
  tokenFields,
  tokenPresets,
  unknownWorkspaces,
} from '../../tokens/new-token.ts';
import { createTokenAudited, type NewToken } from '../../tokens/tokens.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { buttonLink, choices, type FormField, fieldInput, group, postForm, textInput } from '../elements/fields.ts';
import { navigationLinks } from '../elements/list.ts';
import { type Markup, userText } from '../elements/text.ts';
import { allValues, type FieldErrors, type Form, type FormResult, filledIn, optional } from '../frame/form.ts';
import { addAction, addPage, queryOf, type Site, type View } from '../frame/page.ts';
import { createdTokenView, serviceOrigin, workspaceIds } from './created-token.ts';

type TokenErrors = FieldErrors<'name' | 'owner' | 'scopes' | 'expires' | 'workspaces'>;

export function addNewTokenPages(site: Site): void {
  const { storage } = site;

  async function showForm(form: Form, errors: TokenErrors = {}, preset = ''): Promise<View> {
    const status = Object.keys(errors).length === 0 ? 200 : 422;
    const main = html`${presetLinks(preset)}${tokenForm(form, errors, await workspaceIds(storage))}`;
    return { title: 'New token', main, status };
  }

  addPage(site, { path: '/tokens/new', access: 'admin' }, async (call) => {
    const { preset } = queryOf(call, 'preset');
    const scope = isTokenPreset(preset) ? tokenPresets[preset].scopes : [];
    return showForm(filledIn({ expires: '90d', reach: 'all', scope }), {}, preset);
  });

  addAction(site, { path: '/tokens', access: 'admin' }, async (call) => {
    const { form } = call;
    const origin = serviceOrigin(call, site.publicUrl());
    const read = readNewToken(form);
    if (!read.ok) return showForm(form, read.errors);
    const outcome = await storage.commit('global', async (db) => {
      const { unknown } = await unknownWorkspaces(db, read.value.workspaces ?? []);
      return unknown.length > 0 ? { unknown } : createTokenAudited(db, storage.now, actorOf(call.c), read.value);
    });
    if ('unknown' in outcome) {
      return showForm(form, { workspaces: `The workspace ${outcome.unknown.join(', ')} no longer exists.` });
    }
    const [workspace] = outcome.token.workspaces ?? (await workspaceIds(storage));
    const result = html`The token ${userText(outcome.token.name)} was created.`;
    return createdTokenView({ ...outcome, origin, result, workspace, now: call.now });
  });
}

const presetLinks = (current: string): Markup =>
  html`<nav class="presets" aria-label="Presets">Preset: ${navigationLinks(
    Object.entries(tokenPresets).map(([name, { title }]) => ({
      href: `/tokens/new?preset=${name}`,
      text: title,
      current: name === current,
    })),
  )}</nav>`;

const tokenForm = (form: Form, errors: TokenErrors, workspaces: readonly string[]): Markup =>
  postForm({
    action: '/tokens',
    values: form,
    fields: [
      fieldInput(tokenFields.name, 'name'),
      fieldInput(tokenFields.owner, 'owner', 'Every token of the same owner can renew and release them.'),
      scopesField,
      textInput('expires', 'Expires after', {
        hint: 'A whole number with s, m, h or d, such as 12h or 90d; or never.',
      }),
      workspacesField(workspaces),
    ],
    errors,
    nothingDone: 'No token was created.',
    button: 'Create token',
    cancel: buttonLink('/tokens', 'Cancel'),
  });

const scopesField = group('scopes', 'Scopes', (values, wrong) => {
  const options = scopes.map((scope) => [scope, html`<code>${scope}</code>`, hintOf(scope)] as const);
  return choices(values, { type: 'checkbox', name: 'scope', wrong, options });
});

function hintOf(scope: Scope): Markup | string {
  const text = scopeMeanings[scope];
  const meaning = `${text[0]?.toUpperCase()}${text.slice(1)}.`;
  if (scope === 'admin') {
    return html`${meaning} <strong>It grants all permissions, including tokens for others.</strong> It is for
      people who run the service, not for workflows.`;
  }
  const implied = scopes.filter((other) => other !== scope && grants([scope], other));
  return implied.length === 0 ? meaning : html`${meaning} Includes ${implied.join(' and ')}.`;
}

const workspacesField = (ids: readonly string[]): FormField =>
  group('workspaces', 'Workspaces', (values, wrong) => {
    const all = ['all', 'all, including those added later'] as const;
    const some = [
      'some',
      'only these',
      'The token cannot see other workspaces. Not possible with the scope admin.',
    ] as const;
    const each = choices(values, { type: 'checkbox', name: 'workspace', wrong, options: ids.map((id) => [id, id]) });
    return html`${choices(values, { type: 'radio', name: 'reach', options: [all, some] })}<div class="under">${each}</div>`;
  });

function readNewToken(form: Form): FormResult<NewToken, keyof TokenErrors> {
  const read = allValues({
    name: tokenFields.name.parse(form.text('name')),
    owner: optional(form.text('owner'), tokenFields.owner.parse),
    scopes: readScopes(form),
    expires: readLifetime(form.text('expires').trim()),
    workspaces: readWorkspaces(form),
  });
  if (!read.ok) return read;
  const { expires, ...values } = read.value;
  const limited = scopeLimitProblem(values.scopes, values.workspaces);
  if (limited === undefined) return { ok: true, value: { ...values, lifetime: expires } };
  return { ok: false, errors: { workspaces: `${limited} Give it access to all, or choose other scopes.` } };
}

const readLifetime = (text: string): Parsed<Duration | null> =>
  text === 'never' ? accepted(null) : tokenFields.expires.parse(text);

function readScopes(form: Form): Parsed<readonly Scope[]> {
  const texts = form.all('scope');
  const chosen = [...new Set(texts.filter(isScope))];
  if (texts.some((text) => !isScope(text))) return refused('One of these scopes is unknown. Choose again.');
  return chosen.length === 0 ? refused('Choose at least one scope.') : accepted(chosen);
}

/** Null for all. */
function readWorkspaces(form: Form): Parsed<readonly string[] | null> {
  const reach = form.text('reach');
  const workspaces = form.all('workspace');
  if (reach === 'all') return accepted(null);
  if (reach !== 'some') return refused('Choose which workspaces it is for.');
  if (workspaces.length === 0) return refused('Choose at least one workspace, or all.');
  const unfit = workspaces.map(parseWorkspaceId).find((id) => !id.ok);
  return unfit === undefined || unfit.ok ? accepted([...new Set(workspaces)]) : unfit;
}
