import { formatDuration } from '../../../interface/duration.ts';
import { accepted, type Parsed } from '../../../interface/parsed.ts';
import { parseRemote, type Remote, type RemoteCredentials } from '../../git/remote.ts';
import { workspaceFields } from '../../workspaces/fields.ts';
import {
  defaultLatestMode,
  defaultPushLockMode,
  latestMode,
  patternsOf,
  pushLockMode,
} from '../../workspaces/latest.ts';
import { defaultLfsLockTtl, defaultLfsMode, lfsLockTtl, lfsMode } from '../../workspaces/lfs-settings.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import type { FoundWorkspace, WorkspaceSettings } from '../../workspaces/workspaces.ts';
import { buttonLink, choices, type FormField, fieldInput, group, postForm, textInput } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import { allValues, type FieldErrors, type Form, type FormResult, filledIn } from '../frame/form.ts';

export type WorkspaceErrors = FieldErrors<keyof typeof workspaceFields | 'remote' | 'username' | 'password'>;

export function workspaceForm(form: Form, errors: WorkspaceErrors, stored: FoundWorkspace | undefined): Markup {
  const isNew = stored === undefined;
  const hasCredentials = stored !== undefined && storedRemote(stored)?.credentials !== undefined;
  const of = workspaceFields;
  return postForm({
    action: isNew ? '/new-workspace' : `/workspaces/${stored.id}/settings`,
    values: filledIn({ remote: withoutCredentials(form.text('remote')) }, form),
    fields: [
      ...(isNew ? [fieldInput(of.id, 'id')] : []),
      fieldInput(of.remote, 'remote', 'The service connects to it before saving.'),
      textInput('username', 'User name', {
        hint: 'For https. Many hosts accept any name with a token.',
      }),
      textInput('password', 'Password or token', {
        type: 'password',
        hint: hasCredentials
          ? 'Credentials are stored, and never shown. Leave both empty to keep them, as long as the host is the same.'
          : 'Only git uses it, and it is never shown again. For ssh, the service has its own key.',
      }),
      fieldInput(of.desk_ttl, 'desk_ttl'),
      radioGroup(of.lfs, 'lfs'),
      fieldInput(of.lfs_url, 'lfs_url'),
      radioGroup(of.latest, 'latest'),
      fieldInput(of.latest_branches, 'latest_branches'),
      fieldInput(of.release_on, 'release_on'),
      radioGroup(of.push_locks, 'push_locks'),
    ],
    errors,
    nothingDone: isNew ? 'No workspace was added.' : 'Nothing was changed.',
    advice: form.text('password') === '' ? '' : 'Enter the password again.',
    button: isNew ? 'Add workspace' : 'Save',
    cancel: buttonLink(isNew ? '/' : `/workspaces/${stored.id}`, 'Cancel'),
  });
}

const radioGroup = (
  { title, meanings }: { readonly title: string; readonly meanings: Readonly<Record<string, string>> },
  name: string,
): FormField =>
  group(name, title, (values, wrong) =>
    choices(values, {
      ...{ type: 'radio', name, wrong },
      options: Object.entries(meanings).map(([value, meaning]) => [value, value, meaning] as const),
    }),
  );

export const newWorkspaceDefaults = filledIn({
  desk_ttl: defaultLfsLockTtl,
  lfs: defaultLfsMode,
  latest: defaultLatestMode,
  push_locks: defaultPushLockMode,
});

/** The form for a stored workspace, without its credentials. */
export const storedWorkspace = (workspace: FoundWorkspace): Form =>
  filledIn({
    remote: storedRemote(workspace)?.address ?? '',
    desk_ttl: formatDuration(lfsLockTtl(workspace)),
    lfs: lfsMode(workspace),
    lfs_url: workspace.lfs_url ?? '',
    latest: latestMode(workspace),
    latest_branches: patternsOf(workspace)?.join(', ') ?? '',
    release_on: workspace.release_on ?? '',
    push_locks: pushLockMode(workspace),
  });

interface WorkspaceRequest {
  readonly id: string;
  /** URL with credentials; undefined if unchanged. */
  readonly remote: string | undefined;
  readonly settings: Omit<WorkspaceSettings, 'lfs_limit'>;
}

export function readWorkspace(
  form: Form,
  stored: FoundWorkspace | undefined,
): FormResult<WorkspaceRequest, keyof WorkspaceErrors> {
  const text = (name: keyof WorkspaceErrors): string => form.text(name).trim();
  const read = allValues({
    id: stored === undefined ? parseWorkspaceId(text('id')) : accepted(stored.id),
    remote: readRemote(form, stored),
    desk_ttl: workspaceFields.desk_ttl.parse(text('desk_ttl')),
    lfs: workspaceFields.lfs.parse(text('lfs')),
    lfs_url: orNull(text('lfs_url'), workspaceFields.lfs_url.parse),
    latest: workspaceFields.latest.parse(text('latest')),
    latest_branches: orNull(text('latest_branches'), workspaceFields.latest_branches.parse),
    release_on: orNull(text('release_on'), workspaceFields.release_on.parse),
    push_locks: workspaceFields.push_locks.parse(text('push_locks')),
  });
  if (!read.ok) return read;
  const { id, remote, desk_ttl, lfs, latest_branches: patterns, ...others } = read.value;
  const latest_branches = patterns === null ? null : JSON.stringify(patterns);
  const settings = { ...others, desk_ttl: formatDuration(desk_ttl), lfs_mode: lfs, latest_branches };
  return { ok: true, value: { id, remote, settings } };
}

const orNull = <T>(text: string, parse: (text: string) => Parsed<T>): Parsed<T | null> =>
  text === '' ? accepted(null) : parse(text);

/** The URL as entered, without credentials. */
function withoutCredentials(text: string): string {
  const parsed = parseRemote(text, { allowFile: true });
  return parsed.ok ? parsed.value.address : text.replace(/\/\/[^/]*@/, '//');
}

function readRemote(form: Form, stored: FoundWorkspace | undefined): Parsed<string | undefined> {
  const address = form.text('remote').trim();
  const [username, password] = [form.text('username'), form.text('password')];
  const before = stored && storedRemote(stored);
  if (before?.address === address && username === '' && password === '') return { ok: true, value: undefined };
  // Only an operator with access to the machine may mirror a repository on its disk.
  const remote = parseRemote(address, { allowFile: false });
  if (!remote.ok) return remote;
  if (remote.value.kind !== 'https' && (username !== '' || password !== '')) {
    return { ok: false, reason: 'An ssh address takes no password: give the service a key that ssh finds.' };
  }
  // The complete URL must pass the same checks as one that was entered with credentials.
  const whole = withCredentials(remote.value, credentialsFor(remote.value, { username, password }, before));
  const checked = parseRemote(whole, { allowFile: false });
  return checked.ok ? { ok: true, value: whole } : checked;
}

function storedRemote({ remote }: FoundWorkspace): Remote | undefined {
  const parsed = parseRemote(remote, { allowFile: true });
  return parsed.ok ? parsed.value : undefined;
}

function withCredentials({ address }: Remote, credentials: RemoteCredentials | undefined): string {
  if (credentials === undefined) return address;
  const url = new URL(address);
  url.username = encodeURIComponent(credentials.username);
  url.password = encodeURIComponent(credentials.password);
  return url.href;
}

/** Credentials for the remote. Stored ones are used only for the origin that they were stored for. */
function credentialsFor(remote: Remote, { username, password }: RemoteCredentials, stored: Remote | undefined) {
  if (username !== '' || password !== '') return { username, password };
  if (remote.credentials !== undefined || remote.kind !== 'https' || stored?.kind !== 'https')
    return remote.credentials;
  return new URL(remote.address).origin === new URL(stored.address).origin ? stored.credentials : undefined;
}
