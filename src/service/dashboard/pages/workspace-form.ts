import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { accepted, type Parsed } from '../../../interface/parsed.ts';
import { parseRemote, type Remote, type RemoteCredentials } from '../../git/remote.ts';
import { workspaceFields } from '../../workspaces/fields.ts';
import { defaultLfsLockTtl, lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
import { defaultLfsMode, type LfsMode, lfsMode, lfsModes } from '../../workspaces/lfs-mode.ts';
import type { FoundWorkspace, LfsSettings } from '../../workspaces/workspaces.ts';
import { choices, field, group, problemSummary, textInput } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import type { Form } from '../frame/form.ts';
import { allValues, type EnteredTexts, enteredTexts, type FieldErrors, type FormResult } from '../frame/form-values.ts';

const titles = {
  id: workspaceFields.id.title,
  remote: workspaceFields.remote.title,
  username: 'User name',
  password: 'Password or token',
  desk_ttl: workspaceFields.desk_ttl.title,
  lfs: workspaceFields.lfs.title,
  lfs_url: workspaceFields.lfs_url.title,
} as const;

type Field = keyof typeof titles;

export type WorkspaceErrors = FieldErrors<Field>;

export type EnteredWorkspace = EnteredTexts<Field>;

const meanings: Readonly<Record<LfsMode, string>> = {
  head: 'The objects of the files on the branch.',
  history: 'The objects of every file that was ever on the branch.',
  none: 'Clients fetch them from the LFS server of the repository.',
};

export function workspaceForm(
  entered: EnteredWorkspace,
  errors: WorkspaceErrors,
  stored: FoundWorkspace | undefined,
): Markup {
  const labelled = (id: 'username' | 'password', hint: string, control: (aria: Markup) => Markup) =>
    field({ id, title: titles[id], problem: errors[id], hint, control });
  const text = (name: 'id' | 'remote' | 'desk_ttl' | 'lfs_url', more?: string) =>
    textInput(workspaceFields[name], {
      name,
      value: name === 'remote' ? shownAgain(entered.remote) : entered[name],
      problem: errors[name],
      ...(more !== undefined && { more }),
    });
  const isNew = stored === undefined;
  const hasCredentials = stored !== undefined && storedRemote(stored)?.credentials !== undefined;
  const action = isNew ? '/new-workspace' : `/workspaces/${stored.id}/settings`;
  const modes = lfsModes.map((mode) => [mode, mode, meanings[mode]] as const);
  const wrongLfs = errors.lfs !== undefined;
  return html`${problemSummary(isNew ? 'No workspace was added.' : 'Nothing was changed.', titles, errors, entered.password === '' ? '' : 'Enter the password again.')}
    <form method="post" action="${action}" class="narrow" novalidate>
      ${isNew ? text('id') : ''}
      ${text('remote', 'The service tries it before anything is saved.')}
      ${labelled(
        'username',
        'For https. Many hosts accept any name with a token.',
        (aria) =>
          html`<input id="username" name="username" value="${entered.username}" autocomplete="off" autocapitalize="none" spellcheck="false"${aria}>`,
      )}
      ${labelled(
        'password',
        hasCredentials
          ? 'Credentials are stored, and never shown. Leave both empty to keep them, as long as the host is the same.'
          : 'Only git uses it, and it is never shown again. For ssh, the service has its own key.',
        (aria) =>
          html`<input type="password" id="password" name="password" autocomplete="off" spellcheck="false"${aria}>`,
      )}
      ${text('desk_ttl')}
      ${group({ id: 'lfs', title: titles.lfs, problem: errors.lfs, content: choices({ type: 'radio', name: 'lfs', chosen: [entered.lfs], wrong: wrongLfs, options: modes }) })}
      ${text('lfs_url')}
      <div class="actions"><button class="primary">${isNew ? 'Add workspace' : 'Save'}</button> <a class="button" href="${isNew ? '/' : `/workspaces/${stored.id}`}">Cancel</a></div>
    </form>`;
}

export function enteredWorkspace(form: Form): EnteredWorkspace {
  const entered = enteredTexts(form, ['id', 'remote', 'username', 'password', 'desk_ttl', 'lfs', 'lfs_url']);
  const { id, remote, desk_ttl, lfs_url } = entered;
  return { ...entered, id: id.trim(), remote: remote.trim(), desk_ttl: desk_ttl.trim(), lfs_url: lfs_url.trim() };
}

export const newWorkspaceDefaults: EnteredWorkspace = {
  id: '',
  remote: '',
  username: '',
  password: '',
  desk_ttl: defaultLfsLockTtl,
  lfs: defaultLfsMode,
  lfs_url: '',
};

/** The form for a stored workspace, without its credentials. */
export const storedWorkspace = (workspace: FoundWorkspace): EnteredWorkspace => ({
  ...newWorkspaceDefaults,
  id: workspace.id,
  remote: storedRemote(workspace)?.address ?? '',
  desk_ttl: formatDuration(lfsLockTtl(workspace)),
  lfs: lfsMode(workspace),
  lfs_url: workspace.lfs_url ?? '',
});

export interface WorkspaceRequest {
  /** URL with credentials; undefined if unchanged. */
  readonly remote: string | undefined;
  readonly settings: Pick<LfsSettings, 'desk_ttl' | 'lfs_mode' | 'lfs_url'>;
}

export function readWorkspace(
  entered: EnteredWorkspace,
  stored: FoundWorkspace | undefined,
): FormResult<WorkspaceRequest, Field> {
  const read = allValues({
    remote: readRemote(entered, stored),
    desk_ttl: workspaceFields.desk_ttl.parse(entered.desk_ttl),
    lfs: workspaceFields.lfs.parse(entered.lfs),
    lfs_url: entered.lfs_url === '' ? accepted(null) : workspaceFields.lfs_url.parse(entered.lfs_url),
  });
  if (!read.ok) return read;
  const { remote, desk_ttl, lfs, lfs_url } = read.value;
  return { ok: true, value: { remote, settings: { desk_ttl: formatDuration(desk_ttl), lfs_mode: lfs, lfs_url } } };
}

/** The URL as entered, without credentials. */
function shownAgain(text: string): string {
  const parsed = parseRemote(text, { allowFile: true });
  return parsed.ok ? parsed.value.address : text.replace(/\/\/[^/]*@/, '//');
}

function readRemote(entered: EnteredWorkspace, stored: FoundWorkspace | undefined): Parsed<string | undefined> {
  const { username, password } = entered;
  const before = stored && storedRemote(stored);
  if (before?.address === entered.remote && username === '' && password === '') return { ok: true, value: undefined };
  // Only an operator with access to the machine may mirror a repository on its disk.
  const remote = parseRemote(entered.remote, { allowFile: false });
  if (!remote.ok) return remote;
  if (remote.value.kind !== 'https' && (username !== '' || password !== '')) {
    return { ok: false, reason: 'An ssh address takes no password: give the service a key that ssh finds.' };
  }
  // The complete URL must pass the same checks as one that was entered with credentials.
  const whole = addressWith(remote.value, credentialsFor(remote.value, entered, before));
  const checked = parseRemote(whole, { allowFile: false });
  return checked.ok ? { ok: true, value: whole } : checked;
}

function storedRemote({ remote }: FoundWorkspace): Remote | undefined {
  const parsed = parseRemote(remote, { allowFile: true });
  return parsed.ok ? parsed.value : undefined;
}

function addressWith({ address }: Remote, credentials: RemoteCredentials | undefined): string {
  if (credentials === undefined) return address;
  const url = new URL(address);
  url.username = encodeURIComponent(credentials.username);
  url.password = encodeURIComponent(credentials.password);
  return url.href;
}

/** Credentials for the remote. Stored ones are used only for the origin that they were stored for. */
function credentialsFor(remote: Remote, { username, password }: EnteredWorkspace, stored: Remote | undefined) {
  if (username !== '' || password !== '') return { username, password };
  if (remote.credentials !== undefined || remote.kind !== 'https' || stored?.kind !== 'https')
    return remote.credentials;
  return new URL(remote.address).origin === new URL(stored.address).origin ? stored.credentials : undefined;
}
