import { type Forge, forges } from '../../syncs/push-event.ts';
import { pushSecretAudited } from '../../workspaces/workspaces.ts';
import { toggle } from '../definition/flags.ts';
import { publicUrl } from '../serve/settings.ts';
import { defineStorageCommand, operatorActor, workspaceArgument } from '../storage/storage-command.ts';
import { missingUrlProblem } from './workspace-settings.ts';

/** The page to add the webhook on, and the events to choose there. */
const settings: Readonly<Record<Forge, string>> = {
  github: 'GitHub: Settings > Webhooks > Add webhook > Just the push event',
  gitlab: 'GitLab: Settings > Webhooks > Add new webhook > Push events',
  gitea: 'Gitea or Forgejo: Settings > Webhooks > Add webhook > Push events',
};

export const workspacePushHook = defineStorageCommand({
  name: 'workspace push-hook',
  summary: 'print the webhook for GitHub, GitLab, Gitea or Forgejo that syncs each pushed branch',
  details: ['Creates its secret at first use. Anyone who has it can start syncs of the workspace, and nothing else.'],
  arguments: { workspace: workspaceArgument },
  flags: { rotate: toggle('replace the secret: events signed with the previous one are refused'), publicUrl },
  example: 'game --public-url https://assets.example.com',
  check: missingUrlProblem,
  async run({ flags, arguments: { workspace: id } }, storage) {
    const secret = await storage.commit({ workspace: id }, (db) =>
      pushSecretAudited(db, storage.now, operatorActor(), id, flags.rotate),
    );
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
