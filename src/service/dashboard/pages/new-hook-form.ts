import { html } from 'hono/html';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { type HookFormat, hookEvents, hookFormats } from '../../../interface/resources.ts';
import { grants } from '../../../interface/scopes.ts';
import { Refusal } from '../../contract/problem.ts';
import { parseRequestPart } from '../../contract/validate.ts';
import { parseTarget } from '../../outbound/target.ts';
import type { HookRow } from '../../outbox/hook-row.ts';
import { redactedUrl } from '../../webhooks/delivery-request.ts';
import { type HookRequest, hookRequestSchema } from '../../webhooks/registration.ts';
import { buttonLink, choices, type FormField, group, postForm, textInput } from '../elements/fields.ts';
import { eventMeanings, formatNames, hookUrl } from '../elements/hook.ts';
import { type Markup, urlText } from '../elements/text.ts';
import { type FieldErrors, type Form, type FormResult, filledIn, newFormId } from '../frame/form.ts';
import type { View, WorkspaceCall } from '../frame/page.ts';

const fields = ['url', 'events', 'branches', 'format', 'secret', 'headers'] as const;

type Field = (typeof fields)[number];

export const newHookDefaults = filledIn({ event: ['sync.succeeded'], format: 'standard' });

/** Form for a new webhook, or for an existing one, which keeps its URL. */
export function newHookForm(
  call: WorkspaceCall,
  form: Form,
  errors: FieldErrors<Field>,
  edited?: Pick<HookRow, 'id' | 'url' | 'format'>,
): View {
  const list = `/workspaces/${call.workspace.id}/hooks`;
  const isNew = edited === undefined;
  const page = isNew ? list : hookUrl(call.workspace.id, edited.id);
  const main = postForm({
    action: isNew ? list : `${page}/edit`,
    values: filledIn({ url: withoutCredentials(form.text('url')), headers: namesOf(form.text('headers')) }, form),
    hidden: { form_id: newFormId(call) },
    fields: [
      urlField(edited),
      eventsField(grants(call.bearer.scopes, 'admin')),
      textInput('branches', 'Branches', {
        hint: 'One per line, or empty for all branches. For syncs only: locks have no branch.',
        rows: 2,
      }),
      formatField,
      textInput('headers', 'Extra headers', {
        hint: html`Sent with every delivery, such as <code>Authorization: Bearer …</code>, one per line. Values are never shown again${isNew ? '' : ': leave one empty to keep it'}.`,
        rows: 2,
      }),
      textInput('secret', 'Secret', {
        type: 'password',
        hint: html`Signs deliveries: <code>whsec_</code> and base64 of 24 to 64 random bytes. ${
          isNew
            ? 'If empty, a new webhook gets one, shown once, and an existing webhook keeps its own.'
            : 'If empty, it keeps its own.'
        }`,
      }),
    ],
    errors,
    nothingDone: isNew ? 'No webhook was registered.' : 'Nothing was changed.',
    advice: reentryAdvice(form),
    button: isNew ? 'Register webhook' : 'Save',
    cancel: buttonLink(page, 'Cancel'),
  });
  return { title: isNew ? 'Add a webhook' : 'Edit this webhook', main };
}

function urlField(edited: Pick<HookRow, 'url' | 'format'> | undefined): FormField {
  if (edited === undefined) {
    return textInput('url', 'URL', {
      hint: html`Where deliveries are sent, such as <code>https://ci.example.com/hooks/workspace</code>. If this
        workspace already has the URL, what you enter here replaces its settings.`,
      attributes: html` inputmode="url" required`,
    });
  }
  const shown = urlText(redactedUrl(edited));
  return {
    id: 'url',
    title: 'URL',
    render: () => html`<p id="url">Deliveries go to ${shown}. To send them elsewhere, add another webhook.</p>`,
  };
}

/** Validates the form with the schema of the API. Reports all errors at once. */
export function readNewHook(form: Form): FormResult<HookRequest, Field> {
  const headers = readHeaders(form.text('headers'));
  const target = parseTarget(form.text('url'));
  const read = validate(toApiRequest(form, headers));
  const errors: FieldErrors<Field> = {
    ...(!target.ok && { url: target.reason }),
    ...(!headers.ok && { headers: headers.reason }),
    ...(!read.ok && read.errors),
    // Replaces the error of the API, where the field is optional.
    ...(form.all('event').length === 0 && { events: 'Choose at least one event.' }),
  };
  return Object.keys(errors).length === 0 ? read : { ok: false, errors };
}

const eventsField = (admin: boolean): FormField =>
  group('events', 'Events', (values, wrong) =>
    choices(values, {
      type: 'checkbox',
      name: 'event',
      wrong,
      options: hookEvents
        .filter((event) => admin || event !== 'audit.recorded')
        .map((event) => [event, html`<code>${event}</code>`, eventMeanings[event]]),
    }),
  );

const formatMeanings: Readonly<Record<HookFormat, Markup | string>> = {
  standard: 'JSON with the event, signed as Standard Webhooks specifies. For your own programs.',
  github: html`Starts workflows of a GitHub repository that run on <code>repository_dispatch</code>. The URL is
    ${urlText('https://api.github.com/repos/OWNER/REPO/dispatches')}, with a
    GitHub token in the header <code>Authorization: Bearer …</code>.`,
  buildkite: html`Creates a build of the branch. The URL is
    ${urlText('https://api.buildkite.com/v2/organizations/ORG/pipelines/PIPELINE/builds')}, with a
    Buildkite token in the header <code>Authorization: Bearer …</code>. For syncs only.`,
  slack: 'Posts a sentence to a channel. The URL is that of a Slack incoming webhook.',
  discord: 'Posts a sentence to a channel. The URL is that of a Discord webhook.',
  teams:
    'Posts a sentence to a channel or chat. The URL is that of a Teams workflow that posts when it receives a webhook request.',
};

const formatField = group('format', 'Format', (values) =>
  choices(values, {
    type: 'radio',
    name: 'format',
    options: hookFormats.map((format) => [format, formatNames[format], formatMeanings[format]]),
  }),
);

/** The URL as entered, without the user name and password, which are not allowed. */
function withoutCredentials(url: string): string {
  const parsed = URL.parse(url.trim());
  if (parsed === null || (parsed.username === '' && parsed.password === '')) return url;
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

/** The names of the headers. The values are not shown and must be entered again. */
const namesOf = (headers: string): string =>
  headers
    .split('\n')
    .map((line) => (line.includes(':') ? `${line.slice(0, line.indexOf(':'))}: ` : ''))
    .filter((line) => line !== '')
    .join('\n');

const reentryAdvice = (form: Form): string =>
  form.text('secret') === '' && form.text('headers') === '' ? '' : 'Enter the secret and the values of headers again.';

/** Parses the headers. The schema later rejects names that differ only in case. */
function readHeaders(text: string): Parsed<Readonly<Record<string, string>>> {
  const headers = new Map<string, string>();
  for (const [index, line] of linesOf(text).entries()) {
    const colon = line.indexOf(':');
    if (colon === -1) {
      return refused(`Header ${index + 1} has no colon. Write one "name: value" per line.`);
    }
    const name = line.slice(0, colon).trim();
    const value = line.slice(colon + 1).replace(/^ +/, '');
    if (headers.has(name)) return refused(`Header ${index + 1} has the same name as an earlier one.`);
    headers.set(name, value);
  }
  return accepted(Object.fromEntries(headers));
}

const toApiRequest = (form: Form, headers: Parsed<Readonly<Record<string, string>>>): unknown => {
  const branches = linesOf(form.text('branches')).map((line) => line.trim());
  const secret = form.text('secret');
  return {
    url: form.text('url'),
    events: [...new Set(form.all('event'))],
    branches: branches.length === 0 ? null : branches,
    format: form.text('format'),
    ...(secret !== '' && { secret }),
    ...(headers.ok && { headers: headers.value }),
  };
};

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

function validate(body: unknown): FormResult<HookRequest, Field> {
  try {
    return { ok: true, value: parseRequestPart(hookRequestSchema, () => body) };
  } catch (error) {
    return { ok: false, errors: errorsIn(error) };
  }
}

/** The errors of the API, by field of the form. Rethrows errors without a field. */
export function errorsIn(error: unknown): FieldErrors<Field> {
  const found = error instanceof Refusal ? (error.extras.errors ?? []) : [];
  const errors = new Map<string, string>();
  for (const { pointer, detail } of found) {
    const [, name = '', index] = pointer.split('/');
    if (!fields.some((field) => field === name)) throw error;
    const which = name === 'branches' && index !== undefined ? `Branch ${Number(index) + 1}: ` : '';
    if (!errors.has(name)) errors.set(name, which + detail);
  }
  if (errors.size === 0) throw error;
  return Object.fromEntries(errors);
}
