import { formatDuration } from '../../../interface/duration.ts';
import { accepted, type Parsed } from '../../../interface/parsed.ts';
import { parseRemote, type Remote, type RemoteCredentials } from '../../git/remote.ts';
import { workspaceFields } from '../../workspaces/fields.ts';
import { defaultLfsLockTtl, lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
import { defaultLfsMode, type LfsMode, lfsMode, lfsModes } from '../../workspaces/lfs-mode.ts';
import type { FoundWorkspace, LfsSettings } from '../../workspaces/workspaces.ts';
import { buttonLink, choices, fieldInput, group, postForm, textInput } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import type { Form } from '../frame/form.ts';
import { allValues, type EnteredTexts, enteredTexts, type FieldErrors, type FormResult } from '../frame/form-values.ts';

const names = ['id', 'remote', 'username', 'password', 'desk_ttl', 'lfs', 'lfs_url'] as const;

type Field = (typeof names)[number];

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
  const isNew = stored === undefined;
  const hasCredentials = stored !== undefined && storedRemote(stored)?.credentials !== undefined;
  const of = workspaceFields;
  const modes = lfsModes.map((mode) => [mode, mode, meanings[mode]] as const);
  return postForm({
    action: isNew ? '/new-workspace' : `/workspaces/${stored.id}/settings`,
    fields: [
      ...(isNew ? [fieldInput(of.id, 'id', entered.id)] : []),
      fieldInput(of.remote, 'remote', shownAgain(entered.remote), 'The service tries it before anything is saved.'),
      textInput('username', 'User name', entered.username, {
        hint: 'For https. Many hosts accept any name with a token.',
      }),
      textInput('password', 'Password or token', '', {
        type: 'password',
        hint: hasCredentials
          ? 'Credentials are stored, and never shown. Leave both empty to keep them, as long as the host is the same.'
          : 'Only git uses it, and it is never shown again. For ssh, the service has its own key.',
      }),
      fieldInput(of.desk_ttl, 'desk_ttl', entered.desk_ttl),
      group('lfs', of.lfs.title, (wrong) =>
        choices({ type: 'radio', name: 'lfs', chosen: [entered.lfs], wrong, options: modes }),
      ),
      fieldInput(of.lfs_url, 'lfs_url', entered.lfs_url),
    ],
    errors,
    nothingDone: isNew ? 'No workspace was added.' : 'Nothing was changed.',
    advice: entered.password === '' ? '' : 'Enter the password again.',
    button: isNew ? 'Add workspace' : 'Save',
    cancel: buttonLink(isNew ? '/' : `/workspaces/${stored.id}`, 'Cancel'),
  });
}

export function enteredWorkspace(form: Form): EnteredWorkspace {
  const entered = enteredTexts(form, names);
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
