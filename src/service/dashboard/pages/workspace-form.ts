import { formatDuration } from '../../../interface/duration.ts';
import { accepted, type Parsed } from '../../../interface/parsed.ts';
import type { LatestMode, PushLockMode } from '../../../interface/resources.ts';
import { parseRemote, type Remote, type RemoteCredentials } from '../../git/remote.ts';
import { workspaceFields } from '../../workspaces/fields.ts';
import {
  defaultLatestMode,
  defaultPushLockMode,
  latestMode,
  patternsOf,
  pushLockMode,
} from '../../workspaces/latest.ts';
import { defaultLfsLockTtl, lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
import { defaultLfsMode, type LfsMode, lfsMode } from '../../workspaces/lfs-mode.ts';
import type { FoundWorkspace, WorkspaceSettings } from '../../workspaces/workspaces.ts';
import { buttonLink, choices, type FormField, fieldInput, group, postForm, textInput } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import type { Form } from '../frame/form.ts';
import { allValues, type EnteredTexts, enteredTexts, type FieldErrors, type FormResult } from '../frame/form-values.ts';

const names = [
  ...(['id', 'remote', 'username', 'password', 'desk_ttl', 'lfs', 'lfs_url'] as const),
  ...(['latest', 'latest_branches', 'release_on', 'push_locks'] as const),
] as const;

type Field = (typeof names)[number];

export type WorkspaceErrors = FieldErrors<Field>;

export type EnteredWorkspace = EnteredTexts<Field>;

const meanings: Readonly<Record<LfsMode, string>> = {
  head: 'The objects of the files on the branch.',
  history: 'The objects of every file that was ever on the branch.',
  none: 'Clients fetch them from the LFS server of the repository.',
};

const onOutdated: Readonly<Record<LatestMode, string>> = {
  refuse: 'A lock on a file with a newer version on another branch is refused.',
  warn: 'It is acquired, with a warning.',
  off: 'Locks are not compared with branches.',
};

const ofPushes: Readonly<Record<PushLockMode, string>> = {
  all: 'All locks of others.',
  branch: 'Locks of the pushed branch, and locks without a branch.',
};

export function workspaceForm(
  entered: EnteredWorkspace,
  errors: WorkspaceErrors,
  stored: FoundWorkspace | undefined,
): Markup {
  const isNew = stored === undefined;
  const hasCredentials = stored !== undefined && storedRemote(stored)?.credentials !== undefined;
  const of = workspaceFields;
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
      radioGroup(of.lfs, 'lfs', entered.lfs, meanings),
      fieldInput(of.lfs_url, 'lfs_url', entered.lfs_url),
      radioGroup(of.latest, 'latest', entered.latest, onOutdated),
      fieldInput(of.latest_branches, 'latest_branches', entered.latest_branches),
      fieldInput(of.release_on, 'release_on', entered.release_on),
      radioGroup(of.push_locks, 'push_locks', entered.push_locks, ofPushes),
    ],
    errors,
    nothingDone: isNew ? 'No workspace was added.' : 'Nothing was changed.',
    advice: entered.password === '' ? '' : 'Enter the password again.',
    button: isNew ? 'Add workspace' : 'Save',
    cancel: buttonLink(isNew ? '/' : `/workspaces/${stored.id}`, 'Cancel'),
  });
}

const radioGroup = (
  { title }: { readonly title: string },
  name: Field,
  chosen: string,
  meanings: Readonly<Record<string, string>>,
): FormField =>
  group(name, title, (wrong) =>
    choices({
      ...{ type: 'radio', name, chosen: [chosen], wrong },
      options: Object.entries(meanings).map(([value, meaning]) => [value, value, meaning] as const),
    }),
  );

export function enteredWorkspace(form: Form): EnteredWorkspace {
  const entered = enteredTexts(form, names);
  return { ...entered, ...trimmed(entered, 'id', 'remote', 'desk_ttl', 'lfs_url', 'latest_branches', 'release_on') };
}

const trimmed = (entered: EnteredWorkspace, ...fields: readonly Field[]): Partial<EnteredWorkspace> =>
  Object.fromEntries(fields.map((field) => [field, entered[field].trim()]));

export const newWorkspaceDefaults: EnteredWorkspace = {
  id: '',
  remote: '',
  username: '',
  password: '',
  desk_ttl: defaultLfsLockTtl,
  lfs: defaultLfsMode,
  lfs_url: '',
  latest: defaultLatestMode,
  latest_branches: '',
  release_on: '',
  push_locks: defaultPushLockMode,
};

/** The form for a stored workspace, without its credentials. */
export const storedWorkspace = (workspace: FoundWorkspace): EnteredWorkspace => ({
  ...newWorkspaceDefaults,
  id: workspace.id,
  remote: storedRemote(workspace)?.address ?? '',
  desk_ttl: formatDuration(lfsLockTtl(workspace)),
  lfs: lfsMode(workspace),
  lfs_url: workspace.lfs_url ?? '',
  latest: latestMode(workspace),
  latest_branches: patternsOf(workspace)?.join(', ') ?? '',
  release_on: workspace.release_on ?? '',
  push_locks: pushLockMode(workspace),
});

export interface WorkspaceRequest {
  /** URL with credentials; undefined if unchanged. */
  readonly remote: string | undefined;
  readonly settings: Omit<WorkspaceSettings, 'lfs_limit'>;
}

export function readWorkspace(
  entered: EnteredWorkspace,
  stored: FoundWorkspace | undefined,
): FormResult<WorkspaceRequest, Field> {
  const read = allValues({
    remote: readRemote(entered, stored),
    desk_ttl: workspaceFields.desk_ttl.parse(entered.desk_ttl),
    lfs: workspaceFields.lfs.parse(entered.lfs),
    lfs_url: orNull(entered.lfs_url, workspaceFields.lfs_url.parse),
    latest: workspaceFields.latest.parse(entered.latest),
    latest_branches: orNull(entered.latest_branches, workspaceFields.latest_branches.parse),
    release_on: orNull(entered.release_on, workspaceFields.release_on.parse),
    push_locks: workspaceFields.push_locks.parse(entered.push_locks),
  });
  if (!read.ok) return read;
  const { remote, desk_ttl, lfs, latest_branches: patterns, ...others } = read.value;
  const latest_branches = patterns === null ? null : JSON.stringify(patterns);
  const settings = { ...others, desk_ttl: formatDuration(desk_ttl), lfs_mode: lfs, latest_branches };
  return { ok: true, value: { remote, settings } };
}

const orNull = <T>(text: string, parse: (text: string) => Parsed<T>): Parsed<T | null> =>
  text === '' ? accepted(null) : parse(text);

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
