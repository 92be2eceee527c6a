import { scopes } from '../../../interface/scopes.ts';
import { curlLine, workflowStep } from '../../tokens/first-steps.ts';
import type { DevSetup } from './dev.ts';

/** The one place that shows the link. */
export const invitation = (link: string): string[] => [
  '',
  'This link signs you in to the dashboard as administrator. It works once, and for an hour:',
  '',
  `  ${link}`,
];

/** What there is to try in development. The token is shown here alone. */
export function welcome(baseUrl: string, { token, workspace }: DevSetup): string[] {
  return [
    '',
    'This is a service to try things with, not one for production: it mirrors repositories of this machine, delivers',
    'webhooks to it, and shows a token that may do everything for 7 days. Each start makes another.',
    '',
    `  export WORKSPACE_BASE_URL=${baseUrl}`,
    `  export WORKSPACE_TOKEN=${token}`,
    `  export WORKSPACE_ID=${workspace}`,
    '',
    'Try it:',
    '',
    `  ${curlLine}`,
    '',
    'A step for a workflow whose runner is on this machine, with the token in the secret WORKSPACE_TOKEN:',
    '',
    ...workflowStep({ baseUrl, workspace, scopes }).map((line) => `  ${line}`),
  ];
}
