import { html } from 'hono/html';
import { parsePositiveDuration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { actorOf } from '../../access/caller.ts';
import { grants, isScope, type Scope, scopeMeanings, scopes } from '../../contract/scopes.ts';
import {
  isTokenPreset,
  parseTokenName,
  parseTokenOwner,
  scopeLimitProblem,
  tokenPresets,
  unknownWorkspaces,
} from '../../tokens/new-token.ts';
import { createToken } from '../../tokens/tokens.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { buttonLink, checkboxes, type FieldErrors, postForm, textInput } from '../elements/fields.ts';
import { navigationLinks } from '../elements/list.ts';
import { type Markup, userText } from '../elements/text.ts';
import { allValues, textIn } from '../frame/form.ts';
import type { View } from '../frame/layout.ts';
import { addAction, addPage, queryOf, type Site } from '../frame/page.ts';
import { createdTokenView } from './created-token.ts';

export function addNewTokenPages(site: Site): void {
  const { storage } = site;

  addPage(site, '/tokens/new', 'admin', async (call) => {
    const { preset } = queryOf(call, 'preset');
    const values = new URLSearchParams({ expires: '90d' });
    if (isTokenPreset(preset)) for (const scope of tokenPresets[preset].scopes) values.append('scope', scope);
    return tokenForm(values, preset);
  });

  addAction(site, '/tokens', 'admin', async (call) => {
    const { form } = call;
    const read = allValues({
      name: parseTokenName(textIn(form, 'name')),
      owner: optional(textIn(form, 'owner'), undefined, parseTokenOwner),
      scope: readScopes(form.getAll('scope')),
      expires: optional(textIn(form, 'expires'), null, parsePositiveDuration),
      workspaces: optional(textIn(form, 'workspaces'), null, readWorkspaces),
    });
    if (!read.ok) return tokenForm(form, '', read.errors);
    const { scope, expires, ...values } = read.value;
    const limit = scopeLimitProblem(scope, values.workspaces);
    if (limit !== undefined)
      return tokenForm(form, '', { workspaces: `${limit} Leave it empty, or choose other scopes.` });
    const outcome = await storage.commit('global', async (db) => {
      const { unknown } = await unknownWorkspaces(db, values.workspaces ?? []);
      if (unknown.length > 0) return { unknown };
      return createToken(db, storage.now, actorOf(call.c), { ...values, scopes: scope, lifetime: expires });
    });
    if ('unknown' in outcome) {
      return tokenForm(form, '', { workspaces: `There is no workspace ${outcome.unknown.join(', ')}.` });
    }
    return createdTokenView(site, call, outcome, html`The token ${userText(outcome.token.name)} was created.`);
  });
}

function tokenForm(values: URLSearchParams, preset: string, errors: FieldErrors = {}): View {
  const main = html`${presetLinks(preset)}${postForm({
    action: '/tokens',
    values,
    fields: [
      textInput('name', 'Name', {
        hint: 'A name for the token, such as "dragon ci".',
        attributes: html` required`,
      }),
      textInput('owner', 'Owner', {
        hint: 'The owner of its locks; case-sensitive (default the name of the token).',
      }),
      checkboxes(
        'scope',
        'Scopes',
        scopes.map((scope) => [scope, html`<code>${scope}</code>`, hintOf(scope)]),
      ),
      textInput('expires', 'Expires', {
        hint: 'How long the token is valid, such as 12h or 90d (default never).',
      }),
      textInput('workspaces', 'Workspaces', { hint: 'Their ids, such as game,film (default all).' }),
    ],
    errors,
    button: 'Create token',
    more: buttonLink('/tokens', 'Cancel'),
  })}`;
  return { title: 'New token', main, status: Object.keys(errors).length === 0 ? 200 : 422 };
}

const presetLinks = (current: string): Markup =>
  html`<nav class="row" aria-label="Presets">Preset: ${navigationLinks(
    Object.entries(tokenPresets).map(([name, { title }]) => ({
      href: `/tokens/new?preset=${name}`,
      text: title,
      current: name === current,
    })),
  )}</nav>`;

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

const optional = <Value, Default>(text: string, otherwise: Default, parse: (text: string) => Parsed<Value>) =>
  text === '' ? accepted<Value | Default>(otherwise) : parse(text);

function readWorkspaces(text: string): Parsed<readonly string[]> {
  const read = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(parseWorkspaceId);
  return read.find((id) => !id.ok) ?? accepted([...new Set(read.flatMap((id) => (id.ok ? [id.value] : [])))]);
}

function readScopes(texts: readonly string[]): Parsed<readonly Scope[]> {
  const chosen = [...new Set(texts.filter(isScope))];
  if (texts.some((text) => !isScope(text))) return refused('One of these scopes is unknown. Choose again.');
  return chosen.length === 0 ? refused('Choose at least one scope.') : accepted(chosen);
}
