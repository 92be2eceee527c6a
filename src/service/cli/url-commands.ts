import { required, toggle, withDefault } from '../../command/flags.ts';
import { makeSignInLink } from '../sessions/sessions.ts';
import { type Forge, forges } from '../syncs/push-event.ts';
import { lfsEndpoint } from '../workspaces/settings.ts';
import { findWorkspace, pushSecret } from '../workspaces/workspaces.ts';
import { defaultOrigin, parsePublicUrl, publicUrl, signInLines, signInUrl } from './settings.ts';
import { defineStorageCommand, workspaceArgument } from './storage-command.ts';

/** The page to add the webhook on, and the events to choose there. */
const settings: Readonly<Record<Forge, string>> = {
  github: 'GitHub: Settings > Webhooks > Add webhook > Just the push event',
  gitlab: 'GitLab: Settings > Webhooks > Add new webhook > Push events',
  gitea: 'Gitea or Forgejo: Settings > Webhooks > Add webhook > Push events',
};

const requiredUrl = required('URL', publicUrl.description, parsePublicUrl);

const workspacePushHook = defineStorageCommand({
  name: 'workspace push-hook',
  summary: 'print the webhook for GitHub, GitLab, Gitea or Forgejo that syncs each pushed branch',
  details: ['Creates its secret at first use. Anyone who has it can start syncs of the workspace, and nothing else.'],
  arguments: { workspace: workspaceArgument },
  flags: {
    rotate: toggle('replace the secret: events signed with the previous one are refused'),
    publicUrl: requiredUrl,
  },
  example: 'game --public-url https://assets.example.com',
  async run({ flags, arguments: { workspace: id } }, { change }) {
    const secret = await change((...by) => pushSecret(...by, id, flags.rotate));
    const content_type = 'application/json';
    const hooks = forges.map((forge) => {
      return { forge, url: `${flags.publicUrl}/v1/workspaces/${id}/push/${forge}` };
    });
    const lines = hooks.flatMap(({ forge, url }) => [
      settings[forge],
      `  URL           ${url}`,
      `  Secret        ${secret}`,
      `  Content type  ${content_type}`,
    ]);
    const rotated = flags.rotate ? ['', 'The previous secret is no longer valid.'] : [];
    return { document: { workspace: id, secret, content_type, hooks }, lines: [...lines, ...rotated] };
  },
});

const workspaceLfs = defineStorageCommand({
  name: 'workspace lfs',
  summary: 'print the settings for Git LFS: a .lfsconfig to commit, or commands for one clone',
  details: ['They contain no secret: people sign in with their own token as the password.'],
  arguments: { workspace: workspaceArgument },
  flags: { publicUrl: requiredUrl },
  example: 'game --public-url https://assets.example.com',
  async run({ flags, arguments: { workspace: id } }, { read }) {
    const workspace = await findWorkspace(read, id);
    const hasStore = workspace !== undefined && lfsEndpoint(workspace) !== undefined;
    const url = `${flags.publicUrl}/v1/workspaces/${id}/lfs`;
    const perClone = [`git config lfs.url ${url}`, 'git config lfs.locksverify true'];
    const committed = ['[lfs]', `  url = ${url}`, '  locksverify = true'];
    return {
      document: { url, lfsconfig: `${committed.join('\n')}\n`, per_clone: perClone },
      lines: [
        ...(hasStore ? [] : [`# ${storeAdvice(id)}`, '']),
        '# Commit this as .lfsconfig. Every clone then uses the service: it checks each push against the locks. Without a',
        '# token, or while the service is down, nobody can clone LFS files or push.',
        ...committed,
        '',
        '# Or run this in a clone. Other clones need no token, and their pushes are not checked against the locks.',
        ...perClone,
      ],
    };
  },
});

const storeAdvice = (id: string): string =>
  `The remote does not use http(s), so first set the URL of its LFS objects: workspace-service workspace update ${id} --lfs-url https://…`;

const signIn = defineStorageCommand({
  name: 'sign-in',
  summary: 'print a one-time link that signs you in to the dashboard as an administrator',
  flags: { publicUrl: withDefault('URL', publicUrl.description, parsePublicUrl, defaultOrigin) },
  example: '--public-url https://assets.example.com',
  async run({ flags }, storage) {
    const link = signInUrl(flags.publicUrl, await makeSignInLink(storage));
    return { document: { sign_in_link: link }, lines: signInLines(link) };
  },
});

export const urlCommands = [workspaceLfs, workspacePushHook, signIn];
